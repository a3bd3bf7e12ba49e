"""Makes the page's table of the values published in a paper, next to the values of one or two campaigns."""

import math
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from h123.analysis import meaningful, read_verdicts
from h123.analysis.as_published.rows import PrintedRow
from h123.analysis.provenance.counts import TrialCounts
from h123.base.errors import UserError
from h123.base.paths import real
from h123.base.units import figures
from h123.report.text.words import cell_name, level, ratio
from h123.store import CampaignFolder
from h123.study import metric

Row = dict[str, Any]
"""A row of a table, as the page shows it."""
IMPOSSIBLE = 1.02
"""The multiple of the link's limit above which a printed value is impossible: rounding cannot explain it."""


@dataclass(frozen=True)
class PrintedSide:
    study: str
    campaign: str
    question: str
    scale: float
    trials: TrialCounts
    factors: Sequence[str]
    source: Mapping[str, object]
    rows: Sequence[PrintedRow]
    """The `as_published.printed.rows` of the campaign's verdicts.json."""


@dataclass(frozen=True)
class PrintedTable:
    """Everything that the page shows about printed values. Each row has one cell for each of `sides`."""

    source: Mapping[str, object]
    sides: Sequence[PrintedSide]
    remarks: Sequence[str]
    values: Sequence[Row]
    """Rows of verdicts.json with `ours` and `ratios` of each side, and `place`, the cell in words."""
    groups: Sequence[tuple[str, Sequence[Row]]]
    """The values by title, which is the metric and the statistic."""
    differences: Sequence[Row]
    sentences: Sequence[Row]


def printed_side(study: Mapping[str, Any], campaign: str, verdicts: Mapping[str, Any]) -> PrintedSide | None:
    """Return a campaign's side, or None if its study has no printed values. `study` is the resolved study."""
    printed = (verdicts["as_published"] or {}).get("printed")
    if not printed:
        return None
    facts = (study["name"], campaign, study["question"], float(study.get("scale", 1)))
    return PrintedSide(*facts, verdicts["trials"], list(study["factors"]), printed["source"], printed["rows"])


def open_other_side(here: CampaignFolder, path: Path) -> PrintedSide:
    """Open the campaign in `path` to show it next to `here`, without writing to it. Raises UserError if the two cannot
    be compared."""
    if real(path) == real(here.path):
        raise UserError(f"{path} is the campaign itself", remedy="name the folder of another campaign after --with")
    other = CampaignFolder.open(path)
    if (side := printed_side(other.study, other.name, read_verdicts(other))) is None:
        raise nothing_printed(other)
    return side


def nothing_printed(folder: CampaignFolder) -> UserError:
    return UserError(
        f"{folder.path} is of study {folder.study['name']!r}, for which no file in published/ has values",
        remedy="--with takes two campaigns of studies that one file in published/ names, analysed `as_published`",
    )


def printed_table(here: PrintedSide, other: PrintedSide | None = None) -> PrintedTable:
    """Return the table for one campaign, or for `other` followed by `here`. Raises UserError if the two do not
    match."""
    sides = [here] if other is None else [other, here]
    if other is not None:
        _refuse_apart(here, other)
    rows = [_joined(list(same), here.factors) for same in zip(*(side.rows for side in sides), strict=True)]
    values = [row for row in rows if row["kind"] == "value"]
    titles = list(dict.fromkeys(_title(row) for row in values))
    return PrintedTable(
        source=here.source,
        sides=sides,
        remarks=_remarks(values, sides),
        values=values,
        groups=[(title, [_value_row(row) for row in values if _title(row) == title]) for title in titles],
        differences=_differences(rows),
        sentences=list({row["quotation"]: row for row in rows}.values()),
    )


def _refuse_apart(here: PrintedSide, other: PrintedSide) -> None:
    keys = [list(map(_key, side.rows)) for side in (here, other)]
    if here.source != other.source or keys[0] != keys[1]:
        raise UserError(
            f"{here.campaign} and {other.campaign} are compared with different printed values",
            remedy="analyse both again with this version of h123, and take studies that one file in published/ names",
        )
    if not any(a["ours"] and b["ours"] for a, b in zip(here.rows, other.rows, strict=True)):
        raise UserError(
            f"no printed value has data in both {here.campaign} and {other.campaign}",
            remedy="run the same cells in both: `--filter` of one may have left out what the other has",
        )


def _key(row: PrintedRow) -> tuple[str, ...]:
    """Return a key that identifies a printed value in the rows of every campaign."""
    return (
        row["where"],
        row["quotation"],
        row["metric"],
        row["statistic"],
        row["kind"],
        row["of"],
        str(row["cell"]),
    )


def _joined(same: Sequence[PrintedRow], factors: Sequence[str]) -> Row:
    """Join the rows of all campaigns about one printed value, and name its cell with the factors in the study's
    order."""
    cell = same[-1]["cell"]
    ordered = sorted(cell, key=lambda name: factors.index(name) if name in factors else len(factors))
    place = cell_name({name: cell[name] for name in ordered})
    parts = {"ours": [row["ours"] for row in same], "ratios": [row["ratio"] for row in same]}
    return {**same[-1], **parts, "place": place}


def _title(row: Row) -> str:
    return f"{metric(row['metric']).title}, {row['statistic']}"


def _remarks(values: Sequence[Row], sides: Sequence[PrintedSide]) -> list[str]:
    links = [row["link"] for row in values if row["link"]]
    alone = sum(link["alone"]["used"] > IMPOSSIBLE for link in links)
    share = sum(bool(link["share"]) and link["share"]["used"] > IMPOSSIBLE for link in links)
    remarks = []
    if links:
        remarks.append(
            f"Of {len(links)} printed values on a limited link, {alone} are more than the whole link can carry, and "
            f"{share} are more than an equal share of it."
        )
    both = [row for row in values if None not in row["ratios"]]
    if both:
        apart = (f"{_apart(row['ratios'][i] for row in both)} ({side.study})" for i, side in enumerate(sides))
        remarks.append(
            f"Half of the {len(both)} measured values are within a factor of {' or '.join(apart)} of the printed ones."
        )
    remarks += [_about(side) for side in sides if side.scale != 1 or side.trials["missing"]]
    if len({side.scale for side in sides}) > 1:
        remarks.append("The scales differ: the fewer requests a user sends, the more the first and last ones matter.")
    return remarks


def _apart(ratios: Iterable[float]) -> str:
    return figures(math.exp(statistics.median(abs(math.log(value)) for value in ratios)))


def _about(side: PrintedSide) -> str:
    words = [f"{side.trials['valid']} of {side.trials['planned']} trials"] if side.trials["missing"] else []
    words += [f"{side.scale:g} of the study's requests"] if side.scale != 1 else []
    return f"{side.study} ({side.campaign}): {', '.join(words)}."


def _value_row(row: Row) -> Row:
    show = metric(row["metric"]).format
    link = row["link"] or {}
    return {
        "where": row["place"],
        "of": level(row["of"]),
        "paper": _printed_words(row["written"]),
        "quotation": row["quotation"],
        "ours": [_ours(own, show) for own in row["ours"]],
        "ratios": [ratio(value) for value in row["ratios"]],
        "limits": [_limit(link.get(name), show) for name in ("alone", "share")],
        "used": [_used(link.get(name)) for name in ("alone", "share")],
        "impossible": bool(link) and link["alone"]["used"] > IMPOSSIBLE,
    }


def _differences(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each sentence, cell and pair: the change, and the effect size that is printed with it."""
    by_key: dict[tuple[str, ...], Row] = {}
    for row in (row for row in rows if row["kind"] != "value"):
        key = (row["quotation"], str(row["cell"]), row["metric"], row["of"])
        new = {"title": _title(row), "where": row["place"], "of": " / ".join(map(level, row["of"].split("/")))}
        difference = by_key.setdefault(key, {**new, "quotation": row["quotation"], "change": None, "effect": None})
        show = _percentage if row["kind"] == "change" else _correlation
        difference[row["kind"]] = {
            "paper": _printed_words(row["written"]),
            "ours": [_ours(ours, show) for ours in row["ours"]],
        }
    return list(by_key.values())


def _ours(rows: Sequence[Row], show: Callable[[float], str]) -> tuple[str, str]:
    """Return a campaign's value, and its interval or the number of treatments behind it. The value is a dash if there
    are no data."""
    if not rows:
        return "–", ""
    if len(rows) > 1:
        values = [own["value"] for own in rows]
        return f"{show(min(values))} – {show(max(values))}", f"{len(rows)} treatments"
    (own,) = rows
    if not meaningful(own["confidence"]):
        return show(own["value"]), "" if own["low"] is None else f"{own['trials']} trial{'s' * (own['trials'] > 1)}"
    return show(own["value"]), f"{show(own['low'])} – {show(own['high'])}"


def _limit(limit: Row | None, show: Callable[[float], str]) -> str:
    if limit is None:
        return "–"
    return show(limit["low"]) if limit["low"] == limit["high"] else f"{show(limit['low'])} – {show(limit['high'])}"


def _used(limit: Row | None) -> str:
    return "–" if limit is None else f"{limit['used']:.2g} ×" if limit["used"] < 10 else f"{limit['used']:.0f} ×"


def _percentage(share: float) -> str:
    return f"{100 * share:+.1f} %"


def _correlation(value: float) -> str:
    return f"{value:+.3f}"


def _printed_words(figures: Sequence[str]) -> str:
    """Return the figures as printed, with a space before the unit."""
    return " – ".join(re.sub(r"(?<=\d)(?=[A-Za-z%])", " ", text) for text in figures)
