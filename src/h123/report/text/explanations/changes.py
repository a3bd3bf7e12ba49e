"""Describes the effects of changes: what each change does to the difference between two levels."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from h123.analysis import CONFIDENCE, meaningful
from h123.analysis.explanations.changes import ChangeRow, ChangesPart, ChangesRow, ShareBetween
from h123.base.units import format_seconds
from h123.report.text.explanations.causes import kind, observation, signed
from h123.report.text.words import level, listed, opened, place, unbroken
from h123.study.interventions import ALL, BY_NAME

NOTABLE = 0.05
"""The share of the difference below which a change is listed only by name."""
_OVER = 1.005
"""The smallest share that is shown as more than 100 %."""
_MINUS = "\u2212"


class ChangeLine(NamedTuple):
    """One change: its words, both sides' times with the change, its effect, and the effect expected from `h123 why`."""

    words: str
    a: str
    b: str
    effect: str
    why: str


def change_rows(verdicts: ChangesPart) -> list[ChangesRow]:
    """Return the rows of all comparisons; warm requests come before cold ones."""
    return list(verdicts.get("changes", []))


def difference_words(row: ChangesRow) -> str:
    """Describe the difference before any change: `On poor, the mean request takes 500 ms longer with HTTP/2 than with
    HTTP/3.`"""
    seconds = row["difference"]["seconds"]
    slower, faster = (row["a"], row["b"]) if seconds > 0 else (row["b"], row["a"])
    what = f"the {observation(row).typical} {kind(row)}"
    longer = f"{what} takes {format_seconds(abs(seconds))} longer with {level(slower)} than with {level(faster)}"
    return unbroken(opened(place(row["cell"]), f"{longer}."))


def change_lines(row: ChangesRow) -> list[ChangeLine]:
    """Return a line for each change with a notable effect, largest first. The last line is about all changes together;
    other combinations have no line."""
    notable = [change for change in _listed(row) if _is_notable(row, change)]
    ranked = sorted(notable, key=lambda change: (change["change"] == ALL, -abs(change["removed"]["seconds"])))
    return [_line(row, change) for change in ranked]


def other_changes(row: ChangesRow) -> str:
    """Name the changes without a line: those whose effect is small, and those whose effect is not clear. Empty if there
    are none."""
    others = [change for change in _listed(row) if not _is_notable(row, change)]
    small = [change["change"] for change in others if _is_small(change)]
    unclear = [change["change"] for change in others if not _is_small(change)]
    sentences = [f"Less than {NOTABLE:.0%}: {', '.join(small)}.".replace("%", " %")] if small else []
    return " ".join([*sentences, *([f"No clear effect: {', '.join(unclear)}."] if unclear else [])])


def _is_small(change: ChangeRow) -> bool:
    """Return whether the whole interval of a change's effect is small."""
    share = change.get("share")
    return (
        share is not None and meaningful(share["confidence"]) and max(abs(share["low"]), abs(share["high"])) <= NOTABLE
    )


def withheld_words(row: ChangesRow) -> str:
    """Name the changes that are not judged, with the reasons. Empty if there are none."""
    names: dict[str, list[str]] = {}
    for name, why in row["withheld"].items():
        names.setdefault(why, []).append(name)
    return " ".join(f"Not judged: {', '.join(its)} ({why})." for why, its in names.items())


def above_words(row: ChangesRow) -> str:
    """Explain shares above 100 %. Empty if no line shows one."""
    lines = [change for change in _listed(row) if _is_notable(row, change)]
    over = any("share" in change and change["share"]["share"] >= _OVER for change in lines)
    whole = row["difference"]["seconds"]
    expected = any(change["expected"]["seconds"] / whole >= _OVER for change in lines if "expected" in change and whole)
    sentences = ["Above 100 %, the other side becomes the slower one"] if over else []
    sentences += ["`why` is above 100 % if other causes act in the opposite direction"] if expected else []
    return f"{'; '.join(sentences)}." if sentences else ""


def all_lines(row: ChangesRow) -> list[ChangeLine]:
    """Return a line for every change, including combinations, in the study's order."""
    return [_line(row, change) for change in row["changes"]]


def shapley_words(row: ChangesRow) -> str:
    """Divide the joint effect of several changes among them, largest part first: `Shapley values: no-loss 98 %,
    window-32 2 %.` Empty if the study makes no changes in combination."""
    if not row["shapley"]:
        return ""
    parts = [
        f"{part['change']} {_share(part['share']) if 'share' in part else _oriented(row, part['seconds']['seconds'])}"
        for part in sorted(row["shapley"], key=lambda part: -abs(part["seconds"]["seconds"]))
    ]
    return unbroken(f"Shapley values: {', '.join(parts)}.")


def agreement_words(row: ChangesRow) -> str:
    """Say for which changes the effect differs from the effect expected from the causes. Empty if none can be
    compared."""
    tried = [change for change in row["changes"] if "expected" in change and len(change["of"]) == 1]
    if not tried or tried[0]["removed"]["confidence"] < CONFIDENCE:
        return ""
    apart = [change["change"] for change in tried if not _overlap(change)]
    if not apart:
        return "The effects agree with what `h123 why` attributes to these causes."
    return f"Differs from what `h123 why` attributes to the cause: {listed(apart, 'and')}."


def _overlap(change: ChangeRow) -> bool:
    removed, expected = change["removed"], change["expected"]
    return removed["low"] <= expected["high"] and expected["low"] <= removed["high"]


def _listed(row: ChangesRow) -> Iterator[ChangeRow]:
    return (change for change in row["changes"] if len(change["of"]) == 1 or change["change"] == ALL)


def _is_notable(row: ChangesRow, change: ChangeRow) -> bool:
    removed, whole = change["removed"], abs(row["difference"]["seconds"])
    return change["change"] == ALL or (
        abs(removed["seconds"]) >= NOTABLE * whole and removed["low"] * removed["high"] > 0
    )


def _line(row: ChangesRow, change: ChangeRow) -> ChangeLine:
    return ChangeLine(
        change_words(change["change"], change["of"]),
        format_seconds(change["a_seconds"]),
        format_seconds(change["b_seconds"]),
        _effect(row, change),
        _expected(row, change),
    )


def as_is_line(row: ChangesRow) -> ChangeLine:
    """Return the line about the trials without any change."""
    return ChangeLine("nothing changed", format_seconds(row["a_seconds"]), format_seconds(row["b_seconds"]), "", "")


def change_words(name: str, of: Sequence[str]) -> str:
    """Return a change in words. Levels that h123 does not know keep their names."""
    if name == ALL:
        return "all changes together"
    words = [BY_NAME[single].words if single in BY_NAME else single for single in of]
    return " and ".join(words)


def _oriented(row: ChangesRow, seconds: float) -> str:
    """Format a change's effect in seconds, with a plus if the change makes the difference smaller."""
    return signed(math.copysign(seconds, seconds * row["difference"]["seconds"]))


def _effect(row: ChangesRow, change: ChangeRow) -> str:
    """Describe the effect: `closes 98 % (95 to 101 %)`, or the seconds if the difference has no clear direction."""
    if "share" not in change:
        return f"closes {_oriented(row, change['removed']['seconds'])}"
    share = change["share"]
    if share["low"] <= 0 <= share["high"] and share["low"] != share["high"]:
        if not meaningful(share["confidence"]):
            return "no clear effect so far"
        return f"no clear effect ({_percent(share['low'])} to {_percent(share['high'])} %)"
    if share["share"] < 0:
        turned: ShareBetween = {**share, "share": -share["share"], "low": -share["high"], "high": -share["low"]}
        return f"widens by {_share(turned)}"
    return f"closes {_share(share)}"


def _share(share: ShareBetween) -> str:
    centre = f"{_percent(share['share'])} %"
    if not meaningful(share["confidence"]):
        return f"{centre} so far"
    low, high = _percent(share["low"]), _percent(share["high"])
    return centre if low == high else f"{centre} ({low} to {high} %)"


def _percent(share: float) -> str:
    return f"{share * 100:.0f}".replace("-0", "0").replace("-", _MINUS)


def _expected(row: ChangesRow, change: ChangeRow) -> str:
    """Return the effect expected from the causes, as a share of the difference: `92 %`. Empty if no effect is
    expected."""
    whole = row["difference"]["seconds"]
    if "expected" not in change or not whole:
        return ""
    return f"{_percent(change['expected']['seconds'] / whole)} %"
