"""Knees and maxima of queues whose answers are known, and of campaigns that are made of such queues."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from h123.analysis import analyse
from h123.analysis.comparisons.capacity import Capacity, CapacityRow, knee, steps_of
from h123.report import write_report
from h123.store import CampaignFolder
from h123.study import PlannedTrial, find_study, load_study, make_plan
from printing import summary
from synthetic import SECOND, Scenario, answer_family, make_campaign, write_samples

HALF_OCTAVES = [100 * math.sqrt(2) ** n for n in range(12)]
RATES = [100, 200, 400, 560, 800, 1600]
SERVED = {"h2": 1_000_000, "h3": 2_000_000}
"""ns of a request, one after another: 1000 and 500 a second."""


@given(st.floats(400, 4000))
def test_the_knee_of_an_mm1_queue_is_half_of_its_maximum(most: float) -> None:
    """Its times are exponential with the mean 1 / (most - rate), so that all quantiles have the same knee. The parabola
    is off by a part of a step, which is 41 %."""
    powers = [(rate, rate * max(0.0, most - rate)) for rate in HALF_OCTAVES]
    assert knee(powers) == pytest.approx(most / 2, rel=0.1)


@given(st.floats(250, 3000), st.floats(0.01, 100), st.floats(1, 4))
def test_a_parabola_of_logarithms_is_found_exactly(at: float, height: float, width: float) -> None:
    powers = [(rate, height * math.exp(-width * math.log(rate / at) ** 2)) for rate in HALF_OCTAVES]
    assert knee(powers) == pytest.approx(at)


@given(st.lists(st.floats(0.001, 1000), min_size=3, max_size=12))
def test_a_knee_lies_between_the_neighbours_of_the_greatest_power(powers: list[float]) -> None:
    rates = HALF_OCTAVES[: len(powers)]
    best = powers.index(max(powers))
    found = knee(list(zip(rates, powers, strict=True)))
    assert found is not None
    assert rates[max(0, best - 1)] * (1 - 1e-9) <= found <= rates[min(len(rates) - 1, best + 1)] * (1 + 1e-9)


@pytest.mark.parametrize(
    ("powers", "found"),
    [
        ([3.0, 2.0, 1.0], HALF_OCTAVES[0]),
        ([1.0, 2.0, 3.0], HALF_OCTAVES[2]),
        ([1.0, 2.0, 0.0], HALF_OCTAVES[1]),
        ([0.0, 0.0, 0.0], None),
    ],
    ids=["from the first step on", "not yet at the last", "beyond it requests fail", "all fail"],
)
def test_where_there_is_nothing_beside_it_the_step_itself_is_the_knee(powers: list[float], found: float | None) -> None:
    assert knee(list(zip(HALF_OCTAVES, powers, strict=False))) == found


def queue(due: NDArray[np.int64], served: int) -> NDArray[np.int64]:
    """When each request that is due then has been served, by one server, in their order (Lindley 1952)."""
    ends = np.zeros_like(due)
    free = 0
    for place, at in enumerate(due):
        free = ends[place] = max(free, int(at)) + served
    return ends


def served_in_turn(trial: PlannedTrial, partial: Path) -> None:
    """A deterministic server: Poisson arrivals at the step's rate; in the closed loop one user after another. A request
    is sent when it can be served, as over connections that are all busy."""
    p = trial.parameters
    count = p.users * p.requests
    random = np.random.default_rng([trial.block, int(p.rate or 0), len(trial.id)])
    served = SERVED[p.protocol] + trial.block * 1000  # no two trials alike
    if p.rate:
        due = (SECOND + np.cumsum(random.exponential(SECOND / p.rate, count))).astype(np.int64)
        ends = queue(due, served)
    else:
        ends = SECOND + served * (1 + np.arange(count))
        due = np.maximum(SECOND, ends - served * p.users)
    nothing, users = np.ma.masked_all(count, np.int64), np.arange(count) % p.users
    columns = {
        "phase": np.full(count, "warm"),
        "user": users,
        "start_ns": due,
        "connected_ns": nothing,
        "sent_ns": ends - served,
        "first_byte_ns": ends - served // 2,
        "end_ns": ends,
        "status": np.full(count, 200),
        "bytes_up": np.zeros(count, np.int64),
        "bytes_down": np.full(count, p.size),
        "protocol": np.full(count, p.protocol),
        "connection": users,
        "reused": np.ones(count, np.int64),
        "error": np.full(count, ""),
        "group": nothing,
        "resource": nothing,
    }
    write_samples(columns, partial / "samples.csv")


def campaign(path: Path, blocks: int, rates: list[int]) -> CampaignFolder:
    loads: dict[str, dict[str, Any]] = {str(rate): {"rate": float(rate), "requests": 100} for rate in rates}
    scenario = Scenario(
        blocks=blocks,
        protocols=("h2", "h3"),
        networks={"lan": {"name": "lan", "title": "unshaped veth pair"}},
        families=[answer_family("latency_p99")],
        settings={"users": 8, "cold": False, "size": 100_000},
        loads={"closed": {"rate": None, "requests": 100}, **loads},
        spoil=served_in_turn,
    )
    return make_campaign(path / "campaign", scenario)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    return campaign(tmp_path_factory.mktemp("capacity"), 6, RATES)


@pytest.fixture(scope="module")
def found(folder: CampaignFolder) -> Capacity:
    capacity = analyse(folder)["capacity"]
    assert capacity
    return capacity


def row_of(found: Capacity, protocol: str) -> CapacityRow:
    [row] = [row for row in found["rows"] if row["cell"]["protocol"] == protocol]
    return row


@pytest.mark.parametrize(("protocol", "most"), [("h2", 1000), ("h3", 500)])
def test_the_maximum_of_a_deterministic_server_is_what_it_serves(found: Capacity, protocol: str, most: int) -> None:
    row = row_of(found, protocol)
    assert row["saturated"]
    assert row["blocks"] == 6
    assert row["maximum"]
    assert row["maximum"]["value"] == pytest.approx(most, rel=0.01)
    assert row["maximum"]["low"] is not None
    assert row["maximum"]["high"] is not None
    assert row["maximum"]["low"] <= row["maximum"]["value"] <= row["maximum"]["high"]
    assert row["maximum"]["confidence"] == pytest.approx(1 - 2 / 2**6)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_the_knee_of_an_md1_queue_is_where_its_power_is_greatest(found: Capacity, protocol: str) -> None:
    """The truth by a long simulation of the same queue, at steps of a hundredth."""
    served = SERVED[protocol] / SECOND
    shares, random = np.arange(0.2, 0.95, 0.01), np.random.default_rng(1)
    powers = []
    for share in shares:
        due = np.cumsum(random.exponential(served / share, 20_000) * SECOND).astype(np.int64)
        tail = np.quantile(queue(due, SERVED[protocol]) - due, 0.99)
        powers.append(share / tail)
    truth = shares[int(np.argmax(powers))] / served
    reached = row_of(found, protocol)["knee"]
    assert reached
    assert reached["bound"] is None
    assert reached["value"] == pytest.approx(truth, rel=0.25)


def test_a_step_has_what_its_queue_says(found: Capacity) -> None:
    steps = {step["level"]: step for step in row_of(found, "h2")["steps"]}
    assert [*steps] == [str(rate) for rate in RATES]
    assert steps["100"]["achieved"] == pytest.approx(100, rel=0.05)
    assert steps["100"]["latency"] == pytest.approx(0.001, rel=0.05)
    assert steps["1600"]["achieved"] == pytest.approx(1000, rel=0.01)
    tail = steps["1600"]["tail"]
    # 800 requests that came in half a second and took 0.8: the last waited 0.3 s.
    assert tail is not None
    assert tail == pytest.approx(0.3, rel=0.25)


def test_what_a_closed_loop_says_of_an_overload_is_not_what_was_waited(found: Capacity) -> None:
    row = row_of(found, "h2")
    [closed] = row["closed"]
    last = row["steps"][-1]
    assert closed["rate"] is None
    assert closed["achieved"] == pytest.approx(1000, rel=0.02)
    assert closed["tail"] == pytest.approx(0.008, rel=0.05), "8 users, of whom 7 are served first"
    assert last["sent_tail"] == pytest.approx(0.001, rel=0.05)
    assert last["tail"]
    assert closed["tail"]
    assert last["tail"] > 20 * closed["tail"]


def test_ratios_are_paired_within_blocks(found: Capacity) -> None:
    ratios = {row["what"]: row for row in found["ratios"]}
    assert {*ratios} == {"knee", "maximum"}
    most = ratios["maximum"]
    assert (most["a"], most["b"], most["blocks"]) == ("h3", "h2", 6)
    assert most["value"] == pytest.approx(0.5, rel=0.01)


def test_a_person_reads_knee_maximum_and_omission(folder: CampaignFolder) -> None:
    said = summary(analyse(folder), width=200)
    assert "HTTP/2: knee" in said
    assert "maximum 99" in said
    assert re.search(r"Differences of maxima: HTTP/3 / HTTP/2 (−4|−5|×0\.[45])", said)
    assert "HTTP/2 at 1.6 k/s: 99 of 100 requests took up to" in said
    assert "from when they were due; 1 ms from when they were sent and 8.03 ms in the closed loop." in said
    page = write_report(folder).read_text()
    assert "Latency against load" in page
    for name in ("latency", "answers", "omission"):
        assert (folder.path / "figures" / f"capacity-{name}.svg").is_file()
    # Twice, wide and narrow: a dot for the median, the tail and the answers of a step, and for both ways to count; of a
    # closed loop a diamond less.
    assert page.count("<title>HTTP/2, 400 /s due") == 2 * 5
    assert page.count("<title>HTTP/2, closed loop") == 2 * 4


def test_steps_that_do_not_reach_it_say_so(tmp_path: Path) -> None:
    found = analyse(campaign(tmp_path, 2, [50, 70, 100]))["capacity"]
    assert found
    row = row_of(found, "h2")
    assert not row["saturated"]
    assert row["knee"]
    assert (row["knee"]["value"], row["knee"]["bound"], row["knee"]["low"]) == (100, "at least", None)
    assert found["ratios"] == []


@pytest.mark.parametrize(
    ("name", "only", "steps"),
    [
        ("capacity", {}, 12),
        ("capacity", {"load": ["closed", "500", "2000", "1000"]}, 3),
        ("capacity", {"load": ["closed", "500", "2000"]}, None),
        ("quick", {}, None),
    ],
)
def test_steps_are_those_that_run(name: str, only: dict[str, list[str]], steps: int | None) -> None:
    found = steps_of(make_plan(load_study(find_study(name)), level_filter=only))
    assert (len(found.rates) if found else None) == steps
    if found:
        assert (found.factor, found.closed) == ("load", ["closed"])
        assert [*found.rates.values()] == sorted(found.rates.values())
