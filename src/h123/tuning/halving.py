"""Decides which candidates stay: successive halving in paired blocks.

Each round measures the remaining candidates and the default in the same blocks. It keeps the better half, and the next
round has twice as many blocks, so every round costs about the same. Values from earlier rounds are used too, because
all remaining candidates have them. Rounds only choose and claim nothing, so no correction for their number is needed.
The last candidate is then compared with the default in blocks that no earlier round has used.

Source: Jamieson and Talwalkar, Non-stochastic Best Arm Identification and Hyperparameter Optimization, AISTATS 2016.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from h123.tuning.candidates import DEFAULT
from h123.tuning.knobs import Knob

_PAIRS, _MOST_FIRST = 32, 4
"""The first round has about _PAIRS pairs of trials over each network, and at most _MOST_FIRST blocks."""
_ALIKE = 1 / 3
"""Candidates whose scores differ by less than this fraction of the margin are treated as equal: the one with fewer
changes ranks first."""

Cell = tuple[str, ...]


@dataclass(frozen=True)
class HalvingRound:
    """A round: the number of candidates that it measures besides the default, and the number of blocks."""

    number: int
    candidates: int
    blocks: int


def rounds(challengers: int) -> Iterator[HalvingRound]:
    """Yield the rounds until one candidate is left. `challengers` is the number of candidates, not counting the
    default."""
    blocks = max(1, min(_MOST_FIRST, _PAIRS // max(1, challengers)))
    number = 1
    while challengers > 1:
        yield HalvingRound(number, challengers, blocks)
        number, challengers, blocks = number + 1, half(challengers), 2 * blocks


def half(challengers: int) -> int:
    """Return how many of the candidates a round keeps."""
    return math.ceil(challengers / 2)


@dataclass
class Scores:
    """Each candidate's differences from the default in the same block: logarithms of ratios, below 0 if the candidate
    is better."""

    _differences: dict[str, dict[Cell, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, candidate: str, cell: Cell, difference: float) -> None:
        """Add a candidate's difference from the default in one block."""
        self._differences[candidate][cell].append(difference)

    def of(self, candidate: str) -> float:
        """Return the candidate's mean difference. Each cell has the same weight, however many blocks it has."""
        cells = self._differences.get(candidate)
        if candidate == DEFAULT:
            return 0.0
        if not cells:
            return math.inf
        return math.fsum(math.fsum(values) / len(values) for values in cells.values()) / len(cells)


def ranked(scores: Mapping[str, float], changes: Mapping[str, int], margin: float) -> list[str]:
    """Return the candidates, the best first. `changes` is the number of each candidate's knobs that differ from the
    default."""
    if not scores:
        return []
    best, step = min(scores.values()), math.log1p(margin) * _ALIKE
    if not math.isfinite(best):
        return sorted(scores, key=lambda name: (scores[name], changes[name]))
    places = {
        name: math.floor((score - best) / step) if math.isfinite(score) else math.inf for name, score in scores.items()
    }
    return sorted(scores, key=lambda name: (places[name], changes[name], scores[name]))


def effects(
    knobs: Sequence[Knob], values: Mapping[str, Mapping[str, str]], scores: Mapping[str, float]
) -> dict[str, tuple[str, float]]:
    """Return, for each knob, the best value other than the default, and its mean effect: the logarithm of the ratio to
    the default, averaged over all combinations of the other knobs. `values` gives the values of each candidate.
    Candidates without a finite score are left out."""
    found = dict[str, tuple[str, float]]()
    for knob in knobs:
        by_value = defaultdict[str, list[float]](list)
        for name, score in scores.items():
            if math.isfinite(score):
                by_value[values[name][knob.name]].append(score)
        means = {value: math.fsum(had) / len(had) for value, had in by_value.items()}
        if knob.values[0] in means and len(means) > 1:
            best = min((value for value in means if value != knob.values[0]), key=lambda value: means[value])
            found[knob.name] = (best, means[best] - means[knob.values[0]])
    return found
