"""Describes what differs between two campaigns apart from their figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from h123.base.terminal.redaction import hidden_in
from h123.base.units import format_bytes
from h123.diff.document import CircumstanceChange
from h123.store import CampaignFolder
from h123.study import Network, Parameters, unrolled
from h123.study.networks.network import Resolved

_NO_MATTER = {"load_average", "python", "virtual_kernel"}
"""Facts about a machine that are momentary, or that do not affect trials."""
_WHO = {"server", "client", "backend", "port", "trial_timeout"}
"""Parameters that may differ between compared treatments: the subjects, the port, and the time limit of a trial."""
_Words = Mapping[str, str]


def changes(before: CampaignFolder, after: CampaignFolder) -> list[CircumstanceChange]:
    """Return all circumstances that differ between the two campaigns."""
    (words_before, words_after), (mine, yours) = (
        [_circumstances(folder, show=show) for folder in (before, after)] for show in (False, True)
    )
    return [
        {**change, **_readable_change(change, mine[kind], yours[kind])}
        for kind in words_before
        for change in _between(kind, words_before[kind], words_after[kind])
    ]


def _readable_change(change: CircumstanceChange, before: _Words, after: _Words) -> CircumstanceChange:
    """Return the change with values that people can read, and without secrets."""
    name = change["what"].partition(", ")[2]
    values = [side.get(name) for side in (before, after)]
    if values[0] == values[1]:
        values[1] = f"{values[1]} (another value)"
    return {"what": change["what"], "before": values[0], "after": values[1]}


def _circumstances(folder: CampaignFolder, *, show: bool) -> Mapping[str, _Words]:
    """Return the circumstances of a campaign, by kind and then by name. `show`: whether the result is for display and
    hides secrets. A comparison needs the secrets."""
    return {
        "h123": {"version": folder.version},
        "machine": _machine(folder),
        "subject": {name: f"{facts['version']} ({facts['stack']})" for name, facts in folder.subjects.items()},
        "server": _servers(folder, show=show),
        "network": {name: _profile(profile) for name, profile in folder.networks.items()},
        "study": _study(folder, show=show),
    }


def _between(kind: str, before: _Words, after: _Words) -> Iterator[CircumstanceChange]:
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield {"what": f"{kind}, {name}", "before": before.get(name), "after": after.get(name)}


def _machine(folder: CampaignFolder) -> _Words:
    facts: Mapping[str, object] = folder.machine
    words = {name: str(value) for name, value in facts.items() if name not in _NO_MATTER and value is not None}
    return words | ({"memory": format_bytes(int(words.pop("memory_bytes")))} if "memory_bytes" in words else {})


def _servers(folder: CampaignFolder, *, show: bool) -> _Words:
    """Return the descriptions of the servers in the study, by name. `show`: whether the result is for display and hides
    secrets."""
    own: Mapping[str, Mapping[str, Any]] = folder.study.get("servers", {})
    own = hidden_in(own) if show else own
    return {
        name: ", ".join(
            [
                server.get("command") or f"at {server.get('address')}",
                f"in {server.get('folder')}",
                *map("=".join, server.get("environment", {}).items()),
            ]
        )
        for name, server in own.items()
    }


def _profile(profile: Resolved) -> str:
    up, down = Network.from_resolved(profile).describe()
    return f"up {up}; down {down}"


def _study(folder: CampaignFolder, *, show: bool) -> _Words:
    study = hidden_in(folder.study) if show else folder.study
    whole = {"name": study["name"], "question": study["question"], "scale": study.get("scale", 1.0)}
    own = {"blocks": folder.blocks, "seed": folder.seed}
    levels = {f"levels of {factor}": ", ".join(levels) for factor, levels in study["factors"].items()}
    return {name: str(value) for name, value in {**whole, **own, **study["settings"], **levels}.items()}


def unlike(before: Parameters, after: Parameters, networks: Sequence[Mapping[str, Resolved]]) -> list[str]:
    """Return sentences about how the conditions of two treatments differ, apart from the subjects. `networks`: the
    networks of both campaigns."""
    parameters_before, parameters_after = (
        parameters.model_dump(mode="json", exclude=_WHO) for parameters in (before, after)
    )
    differences = [
        f"{name} is {parameters_before[name]} before, {parameters_after[name]} after"
        for name in parameters_before
        if parameters_before[name] != parameters_after[name]
    ]
    for mine, yours in zip(before.networks(), after.networks(), strict=False):
        if mine == yours and _link(networks[0][mine]) != _link(networks[1][yours]):
            differences.append(f"the network {mine} has a different profile")
    return differences


def _link(profile: Resolved) -> Resolved:
    return unrolled(Network.from_resolved(profile)).link()
