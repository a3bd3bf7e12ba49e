"""Registers the figures of each section of verdicts.json."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from h123.analysis import headline
from h123.analysis.as_published import document as published
from h123.analysis.comparisons import capacity
from h123.analysis.explanations import causes
from h123.analysis.provenance import values
from h123.analysis.section import Section
from h123.analysis.verdicts import decomposition, judgement
from h123.report.figures.as_published import published_figures
from h123.report.figures.averages import averages_figures
from h123.report.figures.bars import bars_figures
from h123.report.figures.capacity import capacity_figures
from h123.report.figures.causes import causes_figure
from h123.report.figures.completion import completion_figure
from h123.report.figures.decomposition import split_figure
from h123.report.figures.distribution import distribution_figure
from h123.report.figures.drawing import Figure
from h123.report.figures.printed_values import printed_figure
from h123.report.figures.ratios import answer_figure, details_figure
from h123.report.figures.spread import cpu_figure, requests_figure, treatments, trials_figure
from h123.report.figures.waterfalls import waterfalls_figure
from h123.report.look import Mark
from h123.report.page.sources import PageSources, in_order, timed
from h123.report.text.constant_factors import without
from h123.report.text.explanations.causes import cause_rows
from h123.study import Study

_MOST_CAUSES = 6
"""The largest number of differences whose causes are drawn."""


class SectionFigures(NamedTuple):
    """A section of verdicts.json and the function that draws its figures."""

    section: Section[Any]
    figures: Callable[[PageSources], Iterable[Figure]]


def _ratios(of: PageSources) -> Iterator[Figure]:
    if answered := [c for c in headline(of.comparisons) if c["ratio"] is not None]:
        yield answer_figure(answered, of.verdicts["margin"])
    if estimated := [c for c in of.comparisons if c["ratio"] is not None]:
        yield details_figure(estimated, of.verdicts["margin"])


def _causes(of: PageSources) -> Iterator[Figure]:
    if why := cause_rows(of.verdicts):
        yield causes_figure(why[:_MOST_CAUSES])


def _capacity(of: PageSources) -> Iterable[Figure]:
    return capacity_figures(of.verdicts.get("capacity"), of.factor)


def _decomposition(of: PageSources) -> Iterator[Figure]:
    parts = of.verdicts["parts"]
    if parts and parts["rows"]:
        yield split_figure(parts, of.verdicts["margin"])


def _values(of: PageSources) -> Iterator[Figure]:
    """Yield the study's own charts, then figures of the values of trials, requests and visits. The figures show only
    valid trials that took time."""
    rows, factor = in_order(timed(of.whole["values"], of.whole), of.whole), of.factor
    yield from bars_figures(rows, Study.from_resolved(of.facts.study).compare.charts, factor)
    if not of.values:
        return
    metric_name = headline(of.comparisons)[0]["metric"] if of.comparisons else "latency"
    if any(row["metrics"].get(metric_name) is not None for row in of.values):
        yield trials_figure(of.values, metric_name, factor)
    if quantiles := _in_order(of.facts.quantiles, of):
        bases = {c["b"] for c in of.comparisons if c["ratio"] is not None}
        if not all(row["twin"] for row in quantiles):
            yield distribution_figure(quantiles, factor, bases.pop() if len(bases) == 1 else None)
        yield requests_figure(quantiles, treatments(of.values, factor), factor)
    if visits := _in_order(of.facts.visits, of):
        yield waterfalls_figure(visits, factor)
        yield completion_figure(visits, factor)
    if costs := cpu_figure(of.values, factor):
        yield costs


def _in_order(rows: Iterable[Mark], of: PageSources) -> list[Mark]:
    """Return the rows about treatments that took time, in the order of the comparisons."""
    return in_order(timed(without([*rows], of.same), of.verdicts), of.verdicts)


def _as_published(of: PageSources) -> Iterator[Figure]:
    if published_part := of.verdicts["as_published"]:
        levels = {name: list(those) for name, those in of.facts.study["factors"].items() if name not in of.same}
        yield from averages_figures(published_part["replications"], levels, of.factor)
        yield from published_figures(published_part)
    if of.printed and (values_figure := printed_figure(of.printed)):
        yield values_figure


DRAWN: Sequence[SectionFigures] = [
    SectionFigures(judgement.SECTION, _ratios),
    SectionFigures(causes.SECTION, _causes),
    SectionFigures(capacity.SECTION, _capacity),
    SectionFigures(decomposition.SECTION, _decomposition),
    SectionFigures(values.SECTION, _values),
    SectionFigures(published.SECTION, _as_published),
]


def section_figures(sources: PageSources) -> dict[type, list[Figure]]:
    """Return all figures of a campaign, by the part of verdicts.json that they show."""
    return {registered.section.part: list(registered.figures(sources)) for registered in DRAWN}
