"""Compares the printed values of a published work with a campaign's values, and with the limits of the work's link."""

from collections.abc import Iterable, Sequence

from h123.analysis.as_published.bounds import bounds
from h123.analysis.as_published.replications import centre, change
from h123.analysis.as_published.rows import (
    Cell,
    Centre,
    OursRow,
    PrintedComparison,
    PrintedLink,
    PrintedRow,
    PublishedPair,
    ReplicationsRow,
    Used,
)
from h123.study import PRINTED, PrintedValue, PrintedValues, Study

_Found = tuple[Cell, Centre | None]


def compare_with_printed(
    printed: PrintedValues,
    study: Study,
    replications: Sequence[ReplicationsRow],
    comparisons: Sequence[PublishedPair],
) -> PrintedComparison:
    """Return `as_published.printed` of verdicts.json, with a row for every printed figure."""
    campaign = _PrintedCampaign(printed, study, replications, comparisons)
    return {
        "source": printed.source.model_dump(),
        "compared": printed.compared,
        "rows": [_row(printed, value, campaign.values(value)) for value in printed.all()],
    }


class _PrintedCampaign:
    """The campaign's values, looked up by the names that the work uses."""

    def __init__(
        self,
        printed: PrintedValues,
        study: Study,
        replications: Sequence[ReplicationsRow],
        comparisons: Sequence[PublishedPair],
    ) -> None:
        names = printed.studies[study.name]
        self._names = {factor: names.get(factor, factor) for factor in printed.factors}
        self._compared = self._names[printed.compared]
        self._replications, self._comparisons = replications, comparisons

    def values(self, value: PrintedValue) -> list[OursRow]:
        """Return one element for each treatment that the printed figure is about. If the figure compares two levels,
        return one element for each cell."""
        kinds = {"value": self._centres, "change": self._changes, "effect": self._effects}
        return [{**row, "cell": cell} for cell, row in kinds[value.kind](value) if row]

    def _centres(self, value: PrintedValue) -> Iterable[_Found]:
        rows = self._rows(value, value.of)
        return ((row["cell"], centre(row["trials"], value.statement.statistic)) for row in rows)

    def _rows(self, value: PrintedValue, level: str) -> list[ReplicationsRow]:
        cell = {**self._own(value.statement.cell), self._compared: level}
        metric = value.statement.metric
        return [
            r for r in self._replications if r["metric"] == metric and r["trials"] and cell.items() <= r["cell"].items()
        ]

    def _own(self, cell: Cell) -> Cell:
        return {self._names[factor]: level for factor, level in cell.items()}

    def _changes(self, value: PrintedValue) -> Iterable[_Found]:
        a, b = (
            {tuple(sorted(self._others(r).items())): r for r in self._rows(value, level)}
            for level in value.of.split("/")
        )
        for key in [key for key in a if key in b]:
            yield self._others(a[key]), change(a[key]["trials"], b[key]["trials"], value.statement.statistic)

    def _others(self, row: ReplicationsRow) -> Cell:
        return {factor: level for factor, level in row["cell"].items() if factor != self._compared}

    def _effects(self, value: PrintedValue) -> Iterable[_Found]:
        cell = self._own(value.statement.cell)
        for row in self._comparisons:
            same = row["metric"] == value.statement.metric and f"{row['a']}/{row['b']}" == value.of
            if same and cell.items() <= row["cell"].items():
                # These are pooled requests, as in the work, so there is no interval over trials.
                trials = min(row["a_side"]["runs"], row["b_side"]["runs"])
                yield (
                    row["cell"],
                    {"value": row["r_rb"], "low": None, "high": None, "confidence": None, "trials": trials},
                )


def _row(printed: PrintedValues, value: PrintedValue, ours: list[OursRow]) -> PrintedRow:
    statement, exact = value.statement, value.low == value.high
    link = _link(printed, value) if value.kind == "value" else None
    return {
        "where": statement.where,
        "quotation": statement.quotation,
        "note": statement.note,
        "metric": statement.metric,
        "statistic": statement.statistic,
        "kind": value.kind,
        "cell": statement.cell,
        "of": value.of,
        "written": list(value.written),
        "printed": {"low": value.low, "high": value.high},
        "ours": ours,
        "ratio": ours[0]["value"] / value.low if value.kind == "value" and exact and len(ours) == 1 else None,
        "link": link,
    }


def _link(printed: PrintedValues, value: PrintedValue) -> PrintedLink | None:
    """Return the bounds of the work's own link in this cell. If the cell does not set every factor, the bounds cover
    all levels of the other factors.

    In the result, `used` is figure / loosest bound for a rate, and loosest bound / figure for a time. If it is above 1
    for `alone`, the figure cannot be true.
    """
    metric = value.statement.metric
    links = [
        bounds(
            metric,
            size=facts.size,
            users=facts.users,
            rate=facts.rate,
            round_trip=None if facts.round_trip is None else facts.round_trip / 1e9,
        )
        for facts in printed.facts({**value.statement.cell, printed.compared: value.of})
    ]
    limits = [link_limit for link_limit in links if link_limit]
    if not links or len(limits) < len(links):
        return None
    return {
        "alone": _bound([limit["alone"] for limit in limits], metric, value),
        "share": _bound([limit["share"] for limit in limits], metric, value),
    }


def _bound(limits_or_none: list[float | None], metric: str, value: PrintedValue) -> Used | None:
    limits = [limit for limit in limits_or_none if limit is not None]
    if len(limits) < len(limits_or_none):
        return None
    used = value.high / max(limits) if PRINTED[metric].better == "higher" else min(limits) / value.low
    return {"low": min(limits), "high": max(limits), "used": used}
