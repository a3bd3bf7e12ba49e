"""Describes in words how a subject behaves on paths that interfere with ECN or drop large packets."""

from collections.abc import Iterator, Mapping

from h123.base.units import format_seconds
from h123.documents.campaign_file import PathFindings, PathKind
from h123.verification.paths.findings import (
    HEADERS,
    SMALL,
    Limited,
    PathBehaviour,
    Payloads,
    Reaction,
    Spoilt,
    checks,
)

REACTS = 0.9
"""The largest share of its bytes in flight that a sender keeps if it reacts to a mark."""
COLUMNS = {
    "ect": "sends",
    "reports": "reports ECN",
    "bleach": "ECN bleached",
    "swap": "ECT swapped",
    "mark": "all marked",
    "drop": "ECT dropped",
    "reaction": "a mark",
    "datagrams": "payloads",
    "small": "MTU of 1280",
    "black_hole": "MTU falls to 1280",
    "icmp": "falls, with ICMP",
}


_STOPS, _DELIVERS = "went on using ECN on a path that ", "did not deliver 4 MB in 30 s "
_FAULTS: Mapping[PathKind, str] = {
    "bleach": f"{_STOPS}clears it",
    "swap": f"{_STOPS}swaps ECT(0) and ECT(1)",
    "mark": f"{_DELIVERS}on a path that marks every packet",
    "drop": f"{_DELIVERS}on a path that drops packets with ECT",
    "small": f"{_DELIVERS}over an MTU of {SMALL}",
    "black_hole": f"{_DELIVERS}after the MTU fell to {SMALL} without ICMP",
    "icmp": f"{_DELIVERS}after the MTU fell to {SMALL} with ICMP",
}


def path_findings(behaviour: PathBehaviour) -> PathFindings:
    """Return the facts about a sender's behaviour that a campaign needs."""
    sizes = behaviour.datagrams
    return {
        "packet_bytes": sizes.common + HEADERS if sizes else None,
        "faults": {kind: words for kind, words in _FAULTS.items() if _at_fault(getattr(behaviour, kind), kind)},
    }


def _at_fault(found: Spoilt | Limited | None, kind: PathKind) -> bool:
    if isinstance(found, Spoilt) and kind in ("bleach", "swap"):
        return found.stopped is None
    return found is not None and not found.complete


def path_words(behaviour: PathBehaviour) -> Iterator[tuple[str, str]]:
    """Yield the name and description of each property, including those that are unknown."""
    for (field, name), words in zip(COLUMNS.items(), path_cells(behaviour).values(), strict=True):
        yield name, words or f"nothing to see: {behaviour.why(field)}"


def path_cells(behaviour: PathBehaviour) -> dict[str, str]:
    """Return the cells of a table's row, keyed by column. A cell is empty if its property is unknown, and begins with
    `fails: ` if the property breaks a rule."""
    failed = {field for field, result in checks(behaviour) if result.verdict == "failed"}
    return {
        name: "fails: " * (field in failed) + _words(behaviour, getattr(behaviour, field))
        for field, name in COLUMNS.items()
    }


def _words(behaviour: PathBehaviour, value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case "none":
            return "no ECT"
        case str():
            return f"ECT({value[-1]}), {(behaviour.share or 0) * 100:.3g} %"
        case Payloads():
            return f"{value.first}, {value.common}, {value.largest}"
        case Spoilt():
            use = "goes on" if value.stopped is None else f"stops after {format_seconds(value.stopped)}"
            return use + ", body incomplete" * (not value.complete)
        case Reaction():
            return f"keeps {value.keeps:g}" if value.keeps <= REACTS else "no reaction"
        case Limited():
            if not value.complete:
                return "body incomplete"
            lost = f", {value.too_large} too large"
            return (
                f"goes on after {format_seconds(value.resumed)}{lost}"
                if value.too_large and value.resumed
                else "passes"
            )
    return ""
