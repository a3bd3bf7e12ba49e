"""What came of the comparisons, a sentence each; those of one place that are not judged for one reason share theirs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.provenance.gate import GatePart
from h123.report.text.advice import remedy
from h123.report.text.difference import sentence, unfit
from h123.report.text.words import level, listed, opened, place, standing, unbroken


@dataclass(frozen=True)
class OutcomeSentence:
    """Of one comparison, or of several that have the same."""

    standing: str
    """Of its first level."""
    text: str
    note: str
    """What else is known of it; empty where the sentence says all."""


def outcomes(comparisons: Sequence[JudgedComparison], margin: float) -> Iterator[OutcomeSentence]:
    """In the order of the comparisons; `margin` is the equivalence margin (0.05: 5 %)."""
    pairs = {(c["a"], c["b"]) for c in comparisons}
    for _, members in groupby(enumerate(comparisons), key=lambda numbered: _shared(*numbered)):
        alike = [comparison for _, comparison in members]
        first, more = alike[0], remedy(alike[0])
        text = _unjudged(alike) if unfit(first) and len(pairs) > 1 else sentence(first, margin)
        yield OutcomeSentence(standing(first), f"{text} {more}".rstrip(), "" if more else first["note"] or "")


def _shared(number: int, comparison: JudgedComparison) -> object:
    """Equal for those that one sentence tells."""
    if not unfit(comparison):
        return number
    return tuple(comparison["cell"].items()), _why(comparison)


def _why(comparison: JudgedComparison) -> str:
    """It is not judged."""
    return comparison["withheld"]["why"] if comparison["withheld"] else ""


def _unjudged(alike: Sequence[JudgedComparison]) -> str:
    """Which pairs, and why: `On poor, HTTP/3 v HTTP/2 and HTTP/2 v HTTP/1.1 are not judged: ...`"""
    names = list(dict.fromkeys(unbroken(f"{level(c['a'])} v {level(c['b'])}") for c in alike))
    verb = "is" if len(names) == 1 else "are"
    text = f"{listed(names, 'and')} {verb} not judged: {_why(alike[0])}."
    return opened(place(alike[0]["cell"]), text)


def gate_lines(verdicts: GatePart) -> Sequence[str]:
    """What became of a campaign's conditions, the verdict first; none where nothing is required."""
    gate = verdicts.get("gate")
    return gate["lines"] if gate else []
