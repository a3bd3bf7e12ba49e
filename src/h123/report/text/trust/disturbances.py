"""Writes sentences about disturbed trials: how many there were, the effect on the answers, and what to do."""

from collections.abc import Sequence

from h123.analysis.sections import Verdicts
from h123.analysis.verdicts.disturbances import WithoutDisturbed
from h123.report.text.difference import sentence
from h123.report.text.words import percent, place, unbroken

_UNCHANGED = "without the disturbed trials: no answer changes"
_FEW = 6
"""The largest number of changed answers to name."""


def disturbed_lines(verdicts: Verdicts) -> list[str]:
    """Return sentences for the summary about disturbed trials. Empty if the machine disturbed no trial, or if
    disturbances were not recorded."""
    disturbances = verdicts.get("disturbances")
    if not disturbances or disturbances["typical"] is None:
        return []
    were = "was" if disturbances["trials"] == 1 else "were"
    share = unbroken(percent(round(disturbances["typical"], 2 if disturbances["typical"] >= 0.1 else 3)))
    without = _without(disturbances["without"], verdicts["margin"])
    cures = [
        "to measure again what was disturbed: `h123 run --out DIR --retry`; without the machine's time: the same in a "
        "new campaign with `--clock virtual`"
    ]
    return [
        f"{disturbances['trials']} of {disturbances['of']} trials {were} disturbed by the machine: typically up to "
        f"{share} of a time may be its doing ({unbroken(percent(disturbances['tolerated']))} is tolerated)",
        *without,
        *([] if without == [_UNCHANGED] else cures),
    ]


def _without(rows: Sequence[WithoutDisturbed], margin: float) -> list[str]:
    changed = [row for row in rows if row["verdict"] != row["all"]]
    undecided = [row for row in changed if row["verdict"] == "inconclusive"]
    other = [row for row in changed if row not in undecided]
    if not changed:
        return [_UNCHANGED]
    sentences = [f"without the disturbed trials: {_lower(sentence(row, margin))}" for row in other[:_FEW]]
    if undecided:
        where = " and ".join(dict.fromkeys(place(row["cell"]) or "there" for row in undecided))
        sentences.append(
            f"without the disturbed trials too few are left to decide {len(undecided)} of the answers ({where})"
        )
    return sentences


def _lower(text: str) -> str:
    return (text[:1].lower() + text[1:]).removesuffix(".") if text.startswith("On ") else text.removesuffix(".")
