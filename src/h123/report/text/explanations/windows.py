"""Writes sentences about initial windows, and how much of the differences in cold requests they explain."""

from collections.abc import Sequence
from dataclasses import dataclass

from h123.analysis.explanations.windows import WindowsPart, WindowsRow
from h123.report.text.words import level, listed, place, unbroken
from h123.study import metric

_NAMED = 4


@dataclass(frozen=True)
class _Helped:
    """A row, seen from the level with the larger initial window."""

    metric: str
    level: str
    packets: int
    other: str
    fewer: int
    where: str
    alone: float
    """Seconds that the window alone saves."""
    whole: float
    """Seconds that were saved in total."""
    matchable: bool

    @classmethod
    def of(cls, row: WindowsRow) -> "_Helped":
        name, where, matchable = row["metric"], place(row["cell"]), row.get("matchable", True)
        a, b = (row["a"], row["a_packets"]), (row["b"], row["b_packets"])
        if row["seconds"] > 0:
            return cls(name, *a, *b, where, row["seconds"], row["difference"], matchable)
        return cls(name, *b, *a, where, -row["seconds"], -row["difference"], matchable)


def window_lines(verdicts: WindowsPart) -> list[str]:
    """Return a sentence for each level that begins with more packets than another. Empty for campaigns from an earlier
    version of h123."""
    rows = [_Helped.of(row) for row in verdicts.get("windows", [])]
    groups: dict[tuple[str, int, int], list[_Helped]] = {}
    for row in rows:
        groups.setdefault((row.level, row.packets, row.fewer), []).append(row)
    return [unbroken(_sentence(members)) for members in groups.values()]


def _sentence(rows: Sequence[_Helped]) -> str:
    """Describe the windows and their effect: `HTTP/3 begins with 33 packets, HTTP/2 with 10: ...`"""
    first, others = rows[0], list(dict.fromkeys(level(row.other) for row in rows))
    places: dict[str, list[_Helped]] = {}
    for row in rows:
        places.setdefault(row.where, []).append(row)
    savings = [_saved(where, members, alone=len(others) == 1) for where, members in places.items()]
    matchable = all(row.matchable for row in rows)
    more = [f"{len(savings) - _NAMED} more"] if len(savings) > _NAMED else []
    return (
        f"{level(first.level)} begins with {first.packets} packets, {listed(others, 'and')} with {first.fewer}: a "
        "constant of the stacks, not of the protocols. By itself it saves a cold request about "
        f"{listed([*savings[:_NAMED], *more], 'and')}, by the arithmetic of a link without losses; "
        + ("`--transport matched` measures without it." if matchable else "h123 cannot equalise these stacks' windows.")
    )


def _saved(where: str, rows: Sequence[_Helped], *, alone: bool) -> str:
    """Describe the saved time: `39 ms on medium (63.5 ms in all against HTTP/2 and 62.3 ms in all against
    HTTP/1.1)`."""
    times = metric(rows[0].metric)
    wholes = [
        f"{times.format(row.whole)} in all{'' if alone else f' against {level(row.other)}'}"
        for row in rows
        if row.whole > 0
    ]
    text = f"{times.format(rows[0].alone)} {where}".rstrip()
    return f"{text} ({listed(wholes, 'and')})" if wholes else f"{text} (and yet its cold requests are slower)"
