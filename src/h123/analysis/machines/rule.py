"""Defines when a machine differs from the others. The rule is fixed before anything is measured (docs/cluster.md).

A machine differs if its mean is off by more than the study's margin, and by more than chance allows in a t-test with
the variance within machines (Searle, Casella, McCulloch, Variance Components, 1992, chapter 3). The level of the test
is `LEVEL` divided by the number of tests (Bonferroni). The most certain difference comes first. The search for the next
one leaves out the machines already found, because they shift the common mean.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean
from typing import Generic, TypeVar

from h123.analysis.machines.variance import Groups, within_squares
from h123.base.distributions import student_cdf

LEVEL = 0.01
"""The largest probability of naming a machine although all machines of the campaign are alike."""
FEWEST_BLOCKS = 2
"""The fewest blocks from which a machine is judged, because a single block might be an outlier."""

What = TypeVar("What")


@dataclass(frozen=True)
class Measurement(Generic[What]):
    """The measurements of one quantity on each machine."""

    what: What
    groups: Groups
    zero: bool = False
    """Whether each machine is compared with 0, the true mean of an A/A pair, instead of with the other machines."""


@dataclass(frozen=True)
class Departure(Generic[What]):
    """A machine that differs from the others, and by how much."""

    machine: str
    what: What
    difference: float
    """The machine's mean logarithm minus the others' mean or, for an A/A pair, minus 0."""
    p: float
    """The p value, corrected for the number of tests."""


def departures(samples: Sequence[Measurement[What]], machines: Iterable[str], bound: float) -> list[Departure[What]]:
    """Return the machines that differ by more than `bound`, beginning with the most certain difference. If only two
    machines remain, only one of them is listed, although nothing shows which one is off."""
    inside, found = set(machines), list[Departure[What]]()
    while departure := _worst(samples, inside, bound):
        found.append(departure)
        inside.discard(departure.machine)
    return found


def left_out(machines: Iterable[str], blocks: Mapping[str, int]) -> list[str]:
    """Return which of the differing machines to leave out, in the given order. More than half of all machines must
    remain, with more than half of the blocks."""
    out = list[str]()
    for machine in machines:
        stay = blocks.keys() - {*out, machine}
        if 2 * len(stay) <= len(blocks) or 2 * sum(blocks[name] for name in stay) <= sum(blocks.values()):
            break
        out.append(machine)
    return out


def _worst(samples: Sequence[Measurement[What]], machines: Collection[str], bound: float) -> Departure[What] | None:
    """Return the most certain difference, or None if none is certain."""
    tests = list(chain.from_iterable(_tests(sample, machines) for sample in samples))
    far = [test for test in tests if abs(test.difference) > bound]
    worst = min(far, key=lambda test: (test.p, test.machine), default=None)
    if worst is None or worst.p * len(tests) > LEVEL:
        return None
    return replace(worst, p=worst.p * len(tests))


def _tests(sample: Measurement[What], machines: Collection[str]) -> Iterator[Departure[What]]:
    """Yield each machine's difference with its uncorrected p."""
    groups = {name: values for name, values in sample.groups.items() if name in machines and values}
    freedom = sum(map(len, groups.values())) - len(groups)
    if freedom < 1 or len(groups) < 2:
        return
    variance = within_squares(groups) / freedom
    for name, values in groups.items():
        if len(values) < FEWEST_BLOCKS:
            continue
        others = [value for other, theirs in groups.items() if other != name for value in theirs]
        difference = fmean(values) - (0.0 if sample.zero else fmean(others))
        error = (variance * (1 / len(values) + (0.0 if sample.zero else 1 / len(others)))) ** 0.5
        p = 2 * student_cdf(freedom, -abs(difference) / error) if error else float(difference == 0)
        yield Departure(name, sample.what, difference, p)
