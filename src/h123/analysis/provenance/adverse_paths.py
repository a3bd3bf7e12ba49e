"""Reports what verifications found out about the campaign's senders on paths that interfere with ECN or drop large
packets."""

from collections.abc import Iterator, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.documents.campaign_file import PathKind, Proof, VerifiedRole
from h123.study import Parameters
from h123.study.networks.network import Direction

FULL_BYTES = 1500
"""The MTU below which a path can drop the packets of a sender whose packet size is unknown."""


class AdversePathRow(TypedDict):
    """A sender on one kind of path."""

    subject: str
    role: VerifiedRole
    path: PathKind
    fault: str | None
    """What the sender did wrong when it was verified. Null if it was not verified on this kind of path."""


class AdversePathsPart(TypedDict):
    adverse_paths: NotRequired[Sequence[AdversePathRow]]


def _compute(case: Case) -> AdversePathsPart:
    """Return this section's part of verdicts.json. It is empty for campaigns of earlier versions, which did not record
    such findings."""
    treatments = {repr(trial.cell): trial.parameters for trial in case.plan.blocks[0]}
    rows = [row for parameters in treatments.values() for row in _rows(case, parameters)]
    return {"adverse_paths": [row for number, row in enumerate(rows) if row not in rows[:number]]}


def _rows(case: Case, parameters: Parameters) -> Iterator[AdversePathRow]:
    if parameters.protocol != "h3" or case.facts.imported:
        return
    network = case.networks[parameters.network]
    for role in parameters.workload.senders():
        name, way = (parameters.server, network.down) if role == "server" else (parameters.client, network.up)
        proof = case.facts.subjects[name].get("proofs", {}).get(role) if name in case.facts.subjects else None
        if way is None or proof is None or "paths" not in proof:
            continue
        for path in _kinds(way, proof):
            fault = proof["paths"]["faults"].get(path) if proof["paths"] else None
            if fault or not proof["paths"]:
                yield {"subject": name, "role": role, "path": path, "fault": fault}


def _kinds(way: Direction, proof: Proof) -> Iterator[PathKind]:
    """Yield the kinds of adverse paths that apply to a direction, given its sender."""
    findings = proof.get("paths")
    packet_bytes = findings["packet_bytes"] if findings else None
    if way.ecn and way.ecn != "pass":
        yield way.ecn
    limits: list[tuple[PathKind, int]] = [("small", way.mtu.bytes)] if way.mtu else []
    for change in way.changes or []:
        if change.mtu:
            limits.append(("black_hole" if change.mtu.silent else "icmp", change.mtu.bytes))
    yield from (kind for kind, limit in limits if limit < (packet_bytes or FULL_BYTES))


SECTION = Section(AdversePathsPart, _compute)
