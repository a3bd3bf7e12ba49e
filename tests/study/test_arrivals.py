"""When the requests of an open loop are due: by its steps, the same for the same seed, and for whoever is told."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from h123.study.workload import Arrivals, Target, workload_of

MS, SECOND = 10**6, 10**9
RATES = st.floats(0.5, 50_000)
LASTS = st.integers(10 * MS, 5 * SECOND)
STEPS = st.one_of(
    st.fixed_dictionaries({"rate": RATES, "lasts": LASTS}),
    st.fixed_dictionaries({"rate": st.tuples(st.floats(0, 5000), RATES), "lasts": LASTS}),
    st.fixed_dictionaries({"burst": st.integers(1, 500), "lasts": LASTS}),
    st.fixed_dictionaries({"rate": st.just(0.0), "lasts": LASTS}),
)
TARGET = Target("h123.test", "10.1.0.2", 4443, "/ca.pem", 7)


def arrivals(*steps: dict[str, Any], process: str = "constant") -> Arrivals:
    return Arrivals.model_validate({"process": process, "steps": [{"lasts": "1s", **step} for step in steps]})


@st.composite
def any_arrivals(draw: st.DrawFn) -> Arrivals:
    steps = [*draw(st.lists(STEPS, max_size=4)), {"rate": draw(RATES), "lasts": 3 * SECOND}]
    told = {"process": draw(st.sampled_from(["poisson", "constant"])), "steps": draw(st.permutations(steps))}
    return Arrivals.model_validate(told, context="resolved")


@given(any_arrivals(), st.integers(0, 2**53), st.integers(0, 300), st.integers(0, 300))
def test_a_schedule_is_a_function_of_its_seed_in_order_and_begins_as_the_shorter_one(
    one: Arrivals, seed: int, count: int, fewer: int
) -> None:
    due = one.due(seed, count)
    assert len(due) == count
    assert due == sorted(due)
    assert due == one.due(seed, count)
    assert due[:fewer] == one.due(seed, min(fewer, count))
    assert all(at >= 0 for at in due)


@given(any_arrivals(), st.integers(1, 5))
def test_each_round_asks_for_as_much_as_its_steps_say(one: Arrivals, rounds: int) -> None:
    each, lasts = sum(step.requests for step in one.steps), sum(step.lasts for step in one.steps)
    count = min(2000, round(rounds * each))
    even = Arrivals(process="constant", steps=one.steps).due(0, count)
    for n in range(1, rounds + 1):
        within = sum(at < n * lasts for at in even)
        if within < count:
            assert within == pytest.approx(n * each, abs=1.01)


@given(any_arrivals(), st.floats(2, 10), st.integers(0, 2**53))
def test_twice_the_rate_is_half_the_time(one: Arrivals, factor: float, seed: int) -> None:
    quick = [
        step.model_copy(
            update={
                "lasts": round(step.lasts / factor),
                "rate": None
                if step.rate is None
                else tuple(end * step.lasts / round(step.lasts / factor) for end in step.ends),
            }
        )
        for step in one.steps
    ]
    fast = Arrivals.model_construct(process=one.process, steps=tuple(quick)).due(seed, 50)
    for slow, at in zip(one.due(seed, 50), fast, strict=True):
        assert at * factor == pytest.approx(slow, rel=1e-6, abs=100 * factor * len(quick))


def test_an_even_rate_is_a_beat() -> None:
    assert arrivals({"rate": 1000}).due(1, 2500) == [n * MS for n in range(2500)]


def test_bursts_come_at_once_then_nothing() -> None:
    assert arrivals({"burst": 3, "lasts": "100ms"}).due(1, 7) == [0] * 3 + [100 * MS] * 3 + [200 * MS]


def test_a_ramp_asks_for_the_area_below_it() -> None:
    """From 0 to 200 a second in a second: n requests after sqrt(n / 100) seconds."""
    due = arrivals({"rate": [0, 200]}).due(1, 100)
    assert due == pytest.approx([math.sqrt(n / 100) * SECOND for n in range(100)], abs=2)
    down = arrivals({"rate": [200, 0]}).due(1, 100)
    assert down == pytest.approx([(1 - math.sqrt(1 - n / 100)) * SECOND for n in range(100)], abs=2)


def test_steps_follow_one_another_and_begin_again() -> None:
    due = arrivals({"rate": 2}, {"rate": 0, "lasts": "500ms"}, {"burst": 2, "lasts": "500ms"}).due(1, 9)
    assert [at / SECOND for at in due] == [0, 0.5, 1.5, 1.5, 2, 2.5, 3.5, 3.5, 4]


@pytest.mark.parametrize("seed", range(3))
def test_chance_is_a_poisson_processs(seed: int) -> None:
    """By the time that the rates stretch, gaps are exponential with the mean 1 (Kolmogorov and Smirnov)."""
    one = arrivals({"rate": 500}, {"rate": [500, 3000]}, process="poisson")
    due = one.due(seed, 4000)
    asked = [_asked(one, at) for at in due]
    gaps = [later - earlier for earlier, later in itertools.pairwise(asked)]
    assert stats.kstest(gaps, "expon").pvalue > 1e-4
    assert due != one.due(seed + 1, 4000)


def _asked(one: Arrivals, at: int) -> float:
    """How much has been asked for by then."""
    rounds, rest = divmod(at, sum(step.lasts for step in one.steps))
    asked = rounds * sum(step.requests for step in one.steps)
    for step in one.steps:
        begin, end = step.ends
        t = min(rest, step.lasts) / 1e9
        asked += begin * t + (end - begin) * t * t / (2 * step.lasts / 1e9)
        rest = max(0, rest - step.lasts)
    return asked


def test_the_schedule_never_changes_between_versions() -> None:
    assert arrivals({"rate": 1000}, process="poisson").due(7, 5) == GOLDEN


GOLDEN = [391315, 554833, 1607329, 1682523, 2450139]


@given(any_arrivals(), st.integers(0, 2**53), st.integers(0, 200), st.integers(1, 7))
def test_each_connection_has_the_steps_by_itself(one: Arrivals, seed: int, count: int, connections: int) -> None:
    dealt = one.dealt(seed, count, connections)
    assert dealt == sorted(dealt) == one.dealt(seed, count + 50, connections)[:count]
    assert {index for _, index in dealt} <= set(range(connections))
    for index in range(connections):
        own, more = ([at for at, on in of if on == index] for of in (dealt, one.dealt(seed, count, connections + 1)))
        shorter = min(len(own), len(more))
        if one.process == "poisson":  # what a connection has is no matter of how many others there are
            assert own[:shorter] == more[:shorter]


def test_an_even_rate_of_each_connection_is_one_beat_of_all() -> None:
    """Connections take turns, so that they do not all ask at once."""
    dealt = arrivals({"rate": 250}).dealt(1, 1000, 4)
    assert dealt == [(n * MS, n % 4) for n in range(1000)]


@pytest.mark.parametrize("seed", range(3))
def test_chance_on_each_connection_is_its_own(seed: int) -> None:
    dealt = arrivals({"rate": 500}, process="poisson").dealt(seed, 6000, 3)
    own = [[at for at, on in dealt if on == index] for index in range(3)]
    for times in own:
        gaps = [(later - earlier) / SECOND * 500 for earlier, later in itertools.pairwise([0, *times])]
        assert stats.kstest(gaps, "expon").pvalue > 1e-4
    assert own[0][:1000] != own[1][:1000] != own[2][:1000]


def test_the_schedule_of_connections_never_changes_between_versions() -> None:
    assert arrivals({"rate": 1000}, process="poisson").dealt(7, 7, 2) == GOLDEN_DEALT


GOLDEN_DEALT = [(480543, 0), (774376, 0), (1326419, 0), (1363017, 0), (1481600, 0), (2952087, 1), (2974203, 1)]


@pytest.mark.parametrize(("protocol", "connections"), [("h1", 4), ("h2", 1)])
def test_a_client_is_told_on_which_connection(protocol: str, connections: int) -> None:
    told = {"per": "connection", "steps": [{"rate": 100, "lasts": SECOND}]}
    work = workload_of({"protocol": protocol, "users": 4, "requests": 3, "warmup": 1, "arrivals": told})
    document = work.file(TARGET).model_dump(exclude_unset=True)
    assert work.load.arrivals
    dealt = work.load.arrivals.dealt(7, 16, connections)
    assert [*zip(itertools.accumulate(document["gaps_ns"]), document["dealt_to"], strict=True)] == dealt
    assert work.schedules_connections


def test_rates_of_each_connection_take_as_long_as_one_connection() -> None:
    even = arrivals({"rate": 10}, {"rate": 0, "lasts": "3s"}).model_copy(update={"per": "connection"})
    assert even.longest_gap_s(100, 2) == pytest.approx(3 + 0.1)
    assert even.lasts_s(40, 2) == pytest.approx(arrivals({"rate": 20}, {"rate": 0, "lasts": "3s"}).lasts_s(40, 2))


def test_a_client_is_told_the_gaps_and_no_rate() -> None:
    told = {
        "protocol": "h2",
        "users": 2,
        "requests": 3,
        "warmup": 1,
        "arrivals": {"steps": [{"rate": 100, "lasts": SECOND}]},
    }
    work = workload_of(told)
    document = work.file(TARGET).model_dump(exclude_unset=True)
    assert document["rate"] is None
    assert work.load.arrivals
    assert list(itertools.accumulate(document["gaps_ns"])) == work.load.arrivals.due(7, 8)
    assert (work.open_loop, work.schedules_requests, work.most_in_flight()) == (True, True, None)
    assert "dealt_to" not in document
    assert "gaps_ns" not in workload_of({"protocol": "h2", "rate": 5.0}).file(TARGET).model_dump(exclude_unset=True)


def test_how_long_a_connection_can_be_without_one() -> None:
    even = arrivals({"rate": 10}, {"rate": 0, "lasts": "3s"})
    assert even.longest_gap_s(100, 2) == pytest.approx(3 + 0.2)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"steps": []}, "at least 1"),
        ({"steps": [{"lasts": "1s"}]}, "either `rate`"),
        ({"steps": [{"lasts": "1s", "rate": 5, "burst": 5}]}, "either `rate`"),
        ({"steps": [{"rate": 5}]}, "lasts"),
        ({"steps": [{"rate": -5, "lasts": "1s"}]}, "greater than or equal to 0"),
        ({"steps": [{"rate": 0, "lasts": "1s"}]}, "less than one request"),
        ({"steps": [{"rate": 5, "lasts": "0s"}]}, "greater than 0"),
        ({"steps": [{"rate": 5, "lasts": "1s"}], "process": "weekly"}, "poisson"),
        ({"steps": [{"rate": 5, "lasts": "1s"}], "per": "user"}, "connection"),
        ({"steps": [{"rate": 5, "lasts": "1s", "colour": 1}]}, "colour"),
    ],
)
def test_what_cannot_be_is_refused(told: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Arrivals.model_validate(told)
