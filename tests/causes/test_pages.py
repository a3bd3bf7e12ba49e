"""What pages of a known depth spend their time on: real visits under the virtual clock, where parts are whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from h123.catalogue import make_bodies
from h123.causes import CAUSES, Stretch, explain
from h123.documents import read_document
from h123.documents.lab_report import Report
from h123.measures import EndedTrial, trial_metrics
from h123.study import Network, Parameters
from h123.study.networks.network import Bottleneck, Direction
from h123.verification.trial import Trials

pytestmark = pytest.mark.heavy

TRIP_MS = 100
WAY = Direction(delay_ns=TRIP_MS * 500_000, rate=Bottleneck(bps=1_000_000_000))
NETWORK = Network(name="made", title="made", up=WAY, down=WAY)
CHAIN = [
    {"name": "document", "type": "document", "size": 1000, "run": "7ms"},
    {"name": "style", "type": "style", "size": 1000, "by": "document"},
    {"name": "script", "type": "script", "size": 1000, "by": "style", "run": "20ms"},
    {"name": "data", "type": "data", "size": 1000, "by": "script"},
]
"""Four that follow one another, and run for 27 ms."""
IMAGES = {"name": "images", "type": "image", "size": 200, "by": "document"}


def _visit(trials: Trials, folder: Path, resources: list[dict[str, Any]], protocol: str) -> Stretch:
    """The only one of a trial; it takes what the metric says."""
    load = {"kind": "page", "site": {"name": "made", "resources": resources}, "users": 1, "requests": 1}
    where = {"network": "made", "server": "go", "client": "go", "clock": "virtual", "congestion": "cubic"}
    parameters = Parameters.model_validate({**load, **where, "protocol": protocol, "timeout": "30s"})
    values = parameters.model_dump(mode="json")
    make_bodies({one["size"] for one in resources})
    done = trials.carry_out(folder, parameters, NETWORK, lambda _: None)
    assert done.faults == []
    (visit,) = explain(folder, parameters.workload.statuses()).visits
    metrics = trial_metrics(EndedTrial(folder, read_document(folder / "report.json", Report), values))
    assert visit.duration == pytest.approx(metrics["page_complete"])
    assert visit.seconds.sum() == pytest.approx(visit.duration)
    assert visit.sums_up
    return visit


def _ms(visit: Stretch) -> Mapping[str, float]:
    """Of each part of a millisecond or more."""
    return {cause.name: round(s * 1e3, 1) for cause, s in zip(CAUSES, visit.seconds.tolist(), strict=True) if s >= 1e-3}


@pytest.mark.parametrize(("protocol", "opening"), [("h1", 2), ("h2", 2), ("h3", 1)])
def test_a_chain_takes_a_round_trip_each_and_what_it_runs(
    trials: Trials, tmp_path: Path, protocol: str, opening: int
) -> None:
    found = _ms(_visit(trials, tmp_path / protocol, CHAIN, protocol))
    expected = {"connecting": opening * TRIP_MS, "trip": len(CHAIN) * TRIP_MS, "running": 27}
    assert found == pytest.approx(expected, abs=1)


def test_requests_over_http1_wait_for_a_place_on_six_connections(trials: Trials, tmp_path: Path) -> None:
    """Of 18 images: one connection is open, the other five connect for two round trips while the open one takes images.
    The last image has the place of one that came after four."""
    found = _ms(_visit(trials, tmp_path / "h1", [CHAIN[0] | {"run": 0}, IMAGES | {"count": 18}], "h1"))
    assert found == pytest.approx({"connecting": 2 * TRIP_MS, "place": 4 * TRIP_MS, "trip": 2 * TRIP_MS}, abs=2)


def test_requests_over_http2_wait_for_no_place(trials: Trials, tmp_path: Path) -> None:
    """As few as fit into the first window, which counts packets, however small."""
    found = _ms(_visit(trials, tmp_path / "h2", [CHAIN[0] | {"run": 0}, IMAGES | {"count": 4}], "h2"))
    assert found == pytest.approx({"connecting": 2 * TRIP_MS, "trip": 2 * TRIP_MS}, abs=2)
