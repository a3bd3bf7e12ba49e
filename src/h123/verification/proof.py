"""Reports the evidence for a subject's declarations: a verification on this machine, or one that the project
published."""

from dataclasses import dataclass

from h123.catalogue import QUIC, OwnSubject, Subject, fingerprint
from h123.documents.campaign_file import PathFindings, Proof, VerifiedRole
from h123.verification.paths import path_findings
from h123.verification.public_record import PublicRecord, completed, public_record
from h123.verification.record import Record, last_record


@dataclass(frozen=True)
class ProofSummary:
    """A verification record, and where it comes from."""

    record: Record
    upstream: bool
    """Whether the record comes from the project instead of this machine."""
    holds: bool
    """Whether the record covers the subject's present files."""


def best_proof(subject: Subject, upstream: PublicRecord | None) -> ProofSummary | None:
    """Return the most reliable record, or None if there is none. A record of the present files is better than one of
    earlier files. Of two records of the same files, the one made on this machine is better than the published one."""
    here, now = last_record(subject), fingerprint(subject)
    begun = here is not None and upstream is not None and here.machine == upstream.record.machine  # see begin_record
    summaries = [ProofSummary(here, upstream=begun, holds=here.fingerprint == now)] if here else []
    summaries += (
        [ProofSummary(upstream.record, upstream=True, holds=upstream.record.fingerprint == now)] if upstream else []
    )
    return min(summaries, key=lambda summary: not summary.holds, default=None)


def proof(subject: Subject, role: VerifiedRole) -> Proof:
    """Return the state of the subject's verification in this role."""
    if isinstance(subject, OwnSubject):
        return {"outcome": "own", "upstream": False, "time": None, "failed": [], "first_flight": None}
    upstream = public_record(subject)
    summary = best_proof(subject, upstream)
    results = summary.record.of_role(role) if summary else []
    if summary is None or not results:
        return {"outcome": "none", "upstream": False, "time": None, "failed": [], "first_flight": None, "paths": None}
    measured = completed(summary.record, upstream)
    failed = [
        result.check if result.protocol == "-" else f"{result.check} over {result.protocol}"
        for result in (results if summary.holds else [])
        if result.verdict == "failed"
    ]
    return {
        "outcome": "failed" if failed else "passed" if summary.holds else "changed",
        "upstream": summary.upstream,
        "time": summary.record.time,
        "failed": failed,
        "first_flight": _first_flight(measured, role) if summary.holds else None,
        "paths": _paths(measured, role) if summary.holds else None,
    }


def _paths(record: Record, role: VerifiedRole) -> PathFindings | None:
    found = [one for one in record.paths or [] if (one.role, one.protocol) == (role, QUIC)]
    return path_findings(found[0]) if found else None


def _first_flight(record: Record, role: VerifiedRole) -> int | None:
    flights = [
        measured.first_flight
        for measured in record.constants or []
        if (measured.role, measured.protocol) == (role, "h3")
    ]
    return next((flight.packets for flight in flights if flight), None)
