"""Prints the part of `h123 plan` that predicts how narrow intervals will be and what differences a study can detect."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from h123.analysis import known_spreads
from h123.analysis.comparisons.power_preview import Expected, FamilyPower, blocks_to_be, headline, preview_power
from h123.analysis.statistics.precision import LIMIT
from h123.base.terminal.console import write
from h123.base.terminal.tables import plain_table
from h123.base.units import format_share
from h123.study import Plan

_UNKNOWN = "not known"
_NAMED = 3


def print_power_preview(
    plan: Plan, console: Console, *, effect: float | None, spread: float | None, width: float | None
) -> None:
    """Print how narrow the intervals will be, what each family can find, and how many blocks are needed for a requested
    width."""
    sought = plan.study.compare.margin if effect is None else effect
    families = preview_power(plan, effect=sought, assumed_spread=spread, spreads=known_spreads())
    if not families:
        return
    answers, blocks = headline(families), len(plan.blocks)
    write(console, f"\nWhat {_blocks(blocks)} can show {_source(families, spread)}:")
    for metric in dict.fromkeys(expected.metric for expected in answers):
        mine = [expected for expected in answers if expected.metric == metric]
        write(console, f"Intervals of {metric}: {'; '.join(_by_place(mine))}", lead="  ")
    if width is not None:
        write(console, _for_width(width, answers, plan), lead="  ")
    console.print(_table(families))
    write(
        console,
        f"Found if one, half, all differ: the chance of finding a comparison that truly differs by "
        f"{format_share(sought)}, if one, half or all comparisons of its family differ by that much",
    )
    for line in _unable(families, blocks):
        write(console, line)


def _source(families: Sequence[FamilyPower], assumed_spread: float | None) -> str:
    if assumed_spread is not None:
        return f"if ratios vary by {format_share(assumed_spread)} from block to block"
    campaigns = {
        comparison.campaign: None for family in families for comparison in family.comparisons if comparison.campaign
    }
    if not campaigns:
        return "(no published campaign has such trials; give the spread of ratios with --spread)"
    return f"if ratios vary between blocks as in the published {', '.join(campaigns)} (docs/results)"


def _by_place(comparisons: Iterable[Expected]) -> list[str]:
    """Return phrases such as `about ±4 % on medium`. A phrase has a range if widths differ within a network. Networks
    with unknown widths come last."""
    places: dict[str, list[float | None]] = {}
    for comparison in comparisons:
        places.setdefault(comparison.where, []).append(comparison.width)
    widths_by_place = {where: sorted(w for w in widths if w is not None) for where, widths in places.items()}
    phrases = [f"about ±{_range(widths)} on {where}" for where, widths in widths_by_place.items() if widths]
    unknown = [where for where, widths in widths_by_place.items() if not widths]
    if len(unknown) > _NAMED:
        unknown = [*unknown[:_NAMED], f"{len(unknown) - _NAMED} more"]
    return [*phrases, *([f"{_UNKNOWN} on {', '.join(unknown)} (use --spread)"] if unknown else [])]


def _for_width(width: float, answers: Sequence[Expected], plan: Plan) -> str:
    blocks_by_place = blocks_to_be(width, answers, plan)
    phrases = [
        f"about {_blocks(blocks)} on {where}" if blocks else f"more than {LIMIT} blocks on {where}"
        for where, blocks in blocks_by_place.items()
    ]
    return f"±{format_share(width)} would take {', '.join(phrases) if phrases else 'a number that is ' + _UNKNOWN}"


def _table(families: Sequence[FamilyPower]) -> Table:
    """Return a table with a row for each family. A family that exists once for each place (`each:`) gets a single
    row."""
    table = plain_table("family", "comparisons", "intervals", "found if one", "half", "all")
    alike: dict[str, list[FamilyPower]] = {}
    for family in families:
        alike.setdefault(family.name.partition("/")[0], []).append(family)
    for name, places in alike.items():
        several = f"{name} ({len(places)} cells)"
        table.add_row(several if len(places) > 1 else places[0].name, *_row(places))
    return table


def _row(places: Sequence[FamilyPower]) -> list[str]:
    sizes = sorted({len(family.comparisons) for family in places})
    expected = [comparison.width for family in places for comparison in family.comparisons]
    widths = sorted(width for width in expected if width is not None)
    width_text = f"±{_range(widths)}{_where_known(len(widths) < len(expected))}" if widths else _UNKNOWN
    return [" to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1])))), width_text, *_chances(places)]


def _chances(places: Sequence[FamilyPower]) -> list[str]:
    """Return the smallest and the largest power of the families that can find a difference: if one, half or all of a
    family's comparisons differ."""
    able = [family for family in places if family.able]
    powers = [vars(family.power).values() for family in able if family.power is not None]
    if not powers:
        return [_UNKNOWN if able else "cannot", "", ""]
    first, *others = (_range(sorted(chances)) for chances in zip(*powers, strict=True))
    return [first + _where_known(len(powers) < len(able)), *others]


def _where_known(partly: bool) -> str:
    return " where known" if partly else ""


def _unable(families: Sequence[FamilyPower], blocks: int) -> list[str]:
    short = [family for family in families if not family.able]
    if not short:
        return []
    names = ", ".join(family.name for family in short[:_NAMED]) + (", ..." if len(short) > _NAMED else "")
    return [
        f"Note: {len(short)} of {len(families)} families ({names}) cannot find a single difference with "
        f"{_blocks(blocks)}, however large it is: use --blocks {max(family.fewest for family in short)} or smaller "
        "families"
    ]


def _range(widths: Sequence[float]) -> str:
    low, high = format_share(widths[0]), format_share(widths[-1])
    return high if low == high else f"{low.removesuffix(' %')} to {high}"


def _blocks(count: int) -> str:
    return "1 block" if count == 1 else f"{count} blocks"
