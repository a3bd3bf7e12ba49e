"""Draws the figures of one trial or two."""

from collections.abc import Iterator, Sequence

from h123.report.figures.drawing import Figure, inline
from h123.report.trial_view.arm import Arm
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


def pictures_of(pair: Sequence[Arm]) -> dict[str, object]:
    """Return the pictures that the data allow, in the form that the page's template needs."""
    return {"figures": [figure for figure in _figures(pair) if figure], "inline": inline}


def _figures(pair: Sequence[Arm]) -> list[Figure | None]:
    recorded = [arm for arm in pair if arm.packets is not None and len(arm.packets)]
    return [*(_over_time(pair) if recorded else ()), latency_figure(pair), waterfall_figure(pair)]


def _over_time(pair: Sequence[Arm]) -> Iterator[Figure | None]:
    bins, way = bins_of(pair), main_way(pair)
    yield throughput_figure(pair, bins)
    yield flight_figure(pair, bins, way)
    yield round_trip_figure(pair, bins, way)
    yield queue_figure(pair, bins)
    yield sequence_figure(pair, bins, way)
