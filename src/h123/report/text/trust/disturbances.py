"""What is said of disturbed trials: how many, how much, what the answers would be without them, and what to do."""

from collections.abc import Sequence

from h123.analysis.sections import Verdicts
from h123.analysis.verdicts.disturbances import WithoutDisturbed
from h123.report.text.difference import sentence
from h123.report.text.words import percent, place, unbroken

_UNCHANGED = "without the disturbed trials: no answer changes"
_FEW = 6
"""Answers of which each is said; of more, those that change."""


def disturbed_lines(verdicts: Verdicts) -> list[str]:
    """Sentences for the summary; none where the machine disturbed no trial, or nobody recorded it."""
    found = verdicts.get("disturbances")
    if not found or found["typical"] is None:
        return []
    were = "was" if found["trials"] == 1 else "were"
    share = unbroken(percent(round(found["typical"], 2 if found["typical"] >= 0.1 else 3)))
    without = _without(found["without"], verdicts["margin"])
    cures = [
        "to measure again what was disturbed: `h123 run --out DIR --retry`; without the machine's time: the same in a "
        "new campaign with `--clock virtual`"
    ]
    return [
        f"{found['trials']} of {found['of']} trials {were} disturbed by the machine: typically up to {share} of a time "
        f"may be its doing ({unbroken(percent(found['tolerated']))} is tolerated)",
        *without,
        *([] if without == [_UNCHANGED] else cures),
    ]


def _without(rows: Sequence[WithoutDisturbed], margin: float) -> list[str]:
    changed = [row for row in rows if row["verdict"] != row["all"]]
    lost = [row for row in changed if row["verdict"] == "inconclusive"]
    other = [row for row in changed if row not in lost]
    if not changed:
        return [_UNCHANGED]
    said = [f"without the disturbed trials: {_lower(sentence(row, margin))}" for row in other[:_FEW]]
    if lost:
        where = " and ".join(dict.fromkeys(place(row["cell"]) or "there" for row in lost))
        said.append(f"without the disturbed trials too few are left to decide {len(lost)} of the answers ({where})")
    return said


def _lower(text: str) -> str:
    return (text[:1].lower() + text[1:]).removesuffix(".") if text.startswith("On ") else text.removesuffix(".")
