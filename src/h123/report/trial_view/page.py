"""The page: one file that opens offline."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from h123.base.files.output import write_output
from h123.report import with_contents
from h123.report.figures.drawing import Figure, inline
from h123.report.page.template import template
from h123.report.trial_view import facts
from h123.report.trial_view.arm import Arm, arms
from h123.report.trial_view.choice import Chosen
from h123.report.trial_view.latency import latency_figure
from h123.report.trial_view.series import (
    bins_of,
    flight_figure,
    main_way,
    queue_figure,
    round_trip_figure,
    sequence_figure,
    throughput_figure,
)
from h123.report.trial_view.waterfall import waterfall_figure
from h123.store import CampaignFolder


def write_closeup(folder: CampaignFolder, chosen: Sequence[Chosen], page: Path, *, force: bool = False) -> None:
    """Write the page about one attempt, or two; `force`: over one that is there. Raises OSError, UserError."""
    pair = arms(chosen, folder.study["compare"]["factor"])
    content = {
        "title": " and ".join(each.trial for each in chosen),
        "campaign": folder.name,
        "study": folder.study["name"],
        "arms": pair,
        "facts": facts.rows(pair),
        "missing": facts.missing(pair),
        "figures": [figure for figure in _figures(pair) if figure],
        "inline": inline,
    }
    rendered = template("h123.report.trial_view", "page.html.j2").render(**content)
    write_output(page, with_contents(rendered), force=force)


def _figures(pair: Sequence[Arm]) -> list[Figure | None]:
    """Those that the data allow."""
    recorded = [arm for arm in pair if arm.packets is not None and len(arm.packets)]
    return [*(_over_time(pair) if recorded else ()), latency_figure(pair), waterfall_figure(pair)]


def _over_time(pair: Sequence[Arm]) -> Iterator[Figure | None]:
    bins, way = bins_of(pair), main_way(pair)
    yield throughput_figure(pair, bins)
    yield flight_figure(pair, bins, way)
    yield round_trip_figure(pair, bins, way)
    yield queue_figure(pair, bins)
    yield sequence_figure(pair, bins, way)
