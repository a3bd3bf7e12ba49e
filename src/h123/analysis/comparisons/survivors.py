"""Detects requests that may be missing from an imported file. If failed requests leave no row, the file shows only the
successful ones.

Runs with a fixed number of requests have that number of rows in most blocks, and never more. Missing rows count as
missing requests, and so do all rows of a level that a block lacks completely. Runs with a fixed duration have no such
number: their unequal counts are reported but cannot be judged.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from h123.analysis.trials import Treated, treated
from h123.measures import Attempt
from h123.study import Plan

_MOST_NAMED = 4


@dataclass(frozen=True)
class Survivors:
    """The missing requests of an imported campaign with blocks."""

    missing: Mapping[Treated, int]
    """For each treatment in a block, the number of missing rows."""
    uneven: bool
    """Whether the numbers of rows differ between levels, as in runs of a fixed duration. Such runs do not show whether
    requests are missing."""

    def lines(self, factor: str) -> list[str]:
        """Describe the missing requests in sentences."""
        sentences = []
        by_level = defaultdict[str, list[Treated]](list)
        for place in self.missing:
            by_level[dict(place.cell)[factor]].append(place)
        for level, places in by_level.items():
            blocks = sorted({place.block for place in places})
            numbers = ", ".join(map(str, blocks[:_MOST_NAMED])) + (", ..." if len(blocks) > _MOST_NAMED else "")
            count = sum(self.missing[place] for place in places)
            sentences.append(
                f"{level} lacks {count} {'request' if count == 1 else 'requests'} that others have, in "
                f"{'block' if len(blocks) == 1 else 'blocks'} {numbers}; they count as failed, because failed requests "
                "often leave no row. Import their rows too; if they were never made, leave out those blocks for all "
                "levels"
            )
        if self.uneven:
            sentences.append(
                f"the numbers of requests differ between the levels of {factor}, as in runs of a fixed duration; if "
                "failed requests have no rows in the files, only the quicker requests are compared"
            )
        return sentences


def survivors(attempts: Sequence[Attempt], plan: Plan) -> Survivors:
    """Return the missing requests of imported trials. In h123's own trials, and in a campaign with a single block, no
    requests count as missing."""
    imported = [attempt for attempt in attempts if attempt.imported]
    if len(plan.blocks) < 2 or not imported:
        return Survivors({}, False)
    factor = plan.study.compare.factor
    rows = Counter[Treated]()
    for attempt in imported:
        rows[treated(attempt)] += attempt.summary.rows
    cells = defaultdict[tuple[tuple[str, str], ...], dict[Treated, int]](dict)
    for place, count in rows.items():
        cells[tuple(part for part in place.cell if part[0] != factor)][place] = count
    missing, uneven = dict[Treated, int](), False
    for counts in cells.values():
        whole = _planned(counts)
        if whole is not None:
            missing |= {place: whole - counts.get(place, 0) for place in _all(counts) if counts.get(place, 0) < whole}
        else:
            uneven |= _differ(counts)
            missing |= {place: _largest_count(counts, place.block) for place in _all(counts) if place not in counts}
    return Survivors(missing, uneven)


def _planned(counts: Mapping[Treated, int]) -> int | None:
    """Return the number of rows that most runs of one level have, if no run has more. Otherwise return None."""
    most, arms = max(counts.values()), defaultdict[tuple[tuple[str, str], ...], list[int]](list)
    for place, count in counts.items():
        arms[place.cell].append(count)
    return most if any(2 * arm.count(most) > len(arm) for arm in arms.values()) else None


def _all(counts: Mapping[Treated, int]) -> list[Treated]:
    blocks, arms = sorted({place.block for place in counts}), dict.fromkeys(place.cell for place in counts)
    return [Treated(block, arm, False) for block in blocks for arm in arms]


def _largest_count(counts: Mapping[Treated, int], block: int) -> int:
    return max(count for place, count in counts.items() if place.block == block)


def _differ(counts: Mapping[Treated, int]) -> bool:
    by_block = defaultdict[int, set[int]](set)
    for place, count in counts.items():
        by_block[place.block].add(count)
    return any(len(values) > 1 for values in by_block.values())
