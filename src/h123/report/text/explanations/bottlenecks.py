"""Lists the limits of each treatment in a Markdown table with one column per compared level."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from h123.analysis import Bottlenecks
from h123.base.errors import UserError
from h123.base.terminal.markdown import NOTHING, table
from h123.report.text.words import level
from h123.study import Study

_NAMED = 0.25
"""The smallest share of a request's time that is reported for something that is not a limit. Shares of processors are
always reported."""
_PACKETS = (
    "**Bold** is what took the largest part of the mean time of a request, according to the link's packets. Other "
    "parts of a quarter or more follow."
)
_PROCESSORS = (
    "Over a plain veth, **bold** is the side that worked or waited for a processor for at least 90 % of the time "
    "(100 % is one processor). If neither did, it is the busier side, if it was busy for at least half of the time."
)


def chosen_rows(rows: Sequence[Bottlenecks], only: Mapping[str, Collection[str]]) -> list[Bottlenecks]:
    """Return the rows of the cells that `only` (the allowed levels of each factor) selects. Raises UserError if there
    are none."""
    selection = [row for row in rows if all(row.cell[factor] in levels for factor, levels in only.items())]
    if not selection:
        raise UserError(
            "none of these trials shows what limited it",
            remedy="choose trials that h123 ran itself, under the wall clock if they use a plain veth",
        )
    return selection


def limits_lines(rows: Sequence[Bottlenecks], study: Study, only: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the table's lines for the cells that `only` (the allowed levels of each factor) selects. Raises UserError
    if there are none."""
    selection = chosen_rows(rows, only)
    yield from table(_rows(selection, study))
    for kind, meaning in (("packets", _PACKETS), ("processors", _PROCESSORS)):
        if any(row.told_by == kind for row in selection):
            yield from ("", meaning)


def _rows(rows: Sequence[Bottlenecks], study: Study) -> list[dict[str, str]]:
    """Return the rows in the study's order, one for each cell."""
    compared, places = study.compare.factor, {name: list(levels) for name, levels in study.factors.items()}
    others = [factor for factor in places if factor != compared]
    columns = [place for place in places[compared] if any(row.cell[compared] == place for row in rows)]
    of_cell: dict[tuple[str, ...], dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: [places[factor].index(row.cell[factor]) for factor in others]):
        of_cell.setdefault(tuple(row.cell[factor] for factor in others), {})[row.cell[compared]] = _shares_words(row)
    return [
        dict(zip(others, map(level, cell), strict=True))
        | {level(column): row_of_cell.get(column, NOTHING) for column in columns}
        for cell, row_of_cell in of_cell.items()
    ]


def _shares_words(row: Bottlenecks) -> str:
    """Describe the shares: `**the client's processor** 97 %, the server's processor 61 %`."""
    limits, every = row.limits, row.told_by == "processors"
    shares = [(what, share) for what, share in row.shares.items() if every or share >= _NAMED or what in limits]
    parts = [f"{f'**{what}**' if what in limits else what} {share:.0%}".replace("%", " %") for what, share in shares]
    return ", ".join(parts if limits[0] in row.shares else [f"**{limits[0]}**", *parts])
