"""Describes the results of comparisons in sentences. Comparisons in one cell share a sentence if the same reason
prevents a verdict on all of them."""

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
    """A sentence about one comparison, or about several with the same result."""

    standing: str
    """The standing of the comparison's first level, such as `better`."""
    text: str
    note: str
    """Further remarks. Empty if the sentence is complete."""


def outcomes(comparisons: Sequence[JudgedComparison], margin: float) -> Iterator[OutcomeSentence]:
    """Yield the sentences in the order of the comparisons. `margin` is the equivalence margin (0.05: 5 %)."""
    pairs = {(c["a"], c["b"]) for c in comparisons}
    for _, members in groupby(enumerate(comparisons), key=lambda numbered: _shared(*numbered)):
        alike = [comparison for _, comparison in members]
        first, more = alike[0], remedy(alike[0])
        text = _unjudged(alike) if unfit(first) and len(pairs) > 1 else sentence(first, margin)
        yield OutcomeSentence(standing(first), f"{text} {more}".rstrip(), "" if more else first["note"] or "")


def _shared(number: int, comparison: JudgedComparison) -> object:
    """Return a key that is equal for comparisons that share a sentence."""
    if not unfit(comparison):
        return number
    return tuple(comparison["cell"].items()), _why(comparison)


def _why(comparison: JudgedComparison) -> str:
    return comparison["withheld"]["why"] if comparison["withheld"] else ""


def _unjudged(alike: Sequence[JudgedComparison]) -> str:
    """Say which pairs are not judged, and why: `On poor, HTTP/3 v HTTP/2 and HTTP/2 v HTTP/1.1 are not judged: ...`"""
    names = list(dict.fromkeys(unbroken(f"{level(c['a'])} v {level(c['b'])}") for c in alike))
    verb = "is" if len(names) == 1 else "are"
    text = f"{listed(names, 'and')} {verb} not judged: {_why(alike[0])}."
    return opened(place(alike[0]["cell"]), text)


def gate_lines(verdicts: GatePart) -> Sequence[str]:
    """Return the outcome of a campaign's conditions, the verdict first. Empty if there are none."""
    gate = verdicts.get("gate")
    return gate["lines"] if gate else []
