"""Made causes are named: real trials, each with and without the cause."""

from collections.abc import Iterator
from dataclasses import replace
from shutil import which

import numpy as np
import pytest

from causes.judged import judged, shares, verdict
from causes.made import CLIENTS, EVERY, KINDS, LOADS, Truth, drawn
from causes.scene import COMMON, Bench, Scene, network
from h123.catalogue import catalogue, install
from h123.causes import CAUSES, NUMBER, UNATTRIBUTED, explain
from h123.causes.cause import LIMIT
from h123.execution import SERVER_ADDRESS, LocalPool, campaign_certificate
from h123.study.workload import OK
from h123.virtual import installed_kernel
from stored import stored_rows

SEED = 20261128
SAMPLE = {
    "think time after an upload",
    "think time, four users on a connection",
    "few streams at a time",
    "Nagle against delayed acknowledgements",
    "a small stream window",
    "a small initial window",
    "a Retry",
    "random losses",
    "a policer",
    "a path that marks all packets",
    "a full link",
    "datagrams that find no room",
}
"""What `make test` asks for."""
NUMBERS = {drawn(SEED, number).kind.name: number for number in reversed(range(len(KINDS)))}
"""Of each kind the first case."""
EMBEDDED = {
    case.kind.name: number
    for number in reversed(range(40 * len(KINDS)))
    if (case := drawn(SEED, number)).kind.name in SAMPLE
    and (case.pair.made.client, case.pair.made.program) == ("go", "go")
}
"""Of each of the sample the first case that needs no other programs than the embedded ones."""
_TRIES = 3
"""Under the wall clock, whose trials a busy machine disturbs."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Under the virtual clock where its kernel is installed: building it takes minutes."""
    install(catalogue()["go"], print)
    place, pool = tmp_path_factory.mktemp("made"), LocalPool()
    (subjects := place / "subjects").mkdir()
    clock = "virtual" if installed_kernel() else "wall"
    yield Bench(pool, campaign_certificate(place, [SERVER_ADDRESS]), place, subjects, clock)
    pool.close()


def _named(bench: Bench, number: int) -> None:
    case = drawn(SEED, number)
    if case.pair.made.program == "node" and which("node") is None:
        pytest.skip("the server of this case is on Node.js, which is not here")
    for _ in range(1 if bench.clock == "virtual" else _TRIES):
        one = judged(bench, SEED, number)
        if one.verdict in ("right", "rivals"):
            break
    assert one.verdict in ("right", "rivals"), str(one)


@pytest.mark.heavy
@pytest.mark.parametrize("users", [1, 4])
@pytest.mark.parametrize("part", [1, 2, 3])
def test_pieces_that_come_as_often_as_acknowledgements_are_the_source_s(bench: Bench, users: int, part: int) -> None:
    """A piece every round trip, every half or third of one: each is sent when something has just come."""
    pieces = ("--piece", "1000", "--pieces", "12", "--pause", f"{24 // part}ms")
    parameters = {**COMMON, "size": "12kB", "users": users}
    spent = bench.spent(Scene(network(ms=24, mbit=50), "h3", "go", parameters, pieces), f"pieces-{users}-{part}", SEED)
    largest = CAUSES[int(np.argmax(spent.seconds))]
    assert largest.group in ("idle", "server"), largest
    assert spent.seconds[NUMBER[LIMIT]] < 0.1 * spent.latency


@pytest.mark.parametrize("name", sorted(SAMPLE))
def test_a_made_cause_is_named(bench: Bench, name: str) -> None:
    _named(bench, EMBEDDED[name])


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(set(NUMBERS) - SAMPLE))
def test_every_made_cause_is_named(bench: Bench, name: str) -> None:
    for client in CLIENTS:
        install(catalogue()[client], print)
    _named(bench, NUMBERS[name])


def test_a_seed_draws_the_same_cases_again() -> None:
    assert [str(drawn(1, number)) for number in range(99)] == [str(drawn(1, number)) for number in range(99)]
    assert [str(drawn(1, number)) for number in range(99)] != [str(drawn(2, number)) for number in range(99)]


def test_each_kind_comes_before_any_comes_again() -> None:
    assert len(KINDS) >= 60
    assert len({one.name for one in KINDS}) == len(KINDS)
    assert {drawn(3, number).kind.name for number in range(len(KINDS))} == {one.name for one in KINDS}


def test_cases_are_of_all_protocols_clients_and_loads() -> None:
    made = [drawn(4, number).pair.made for number in range(300)]
    assert {(one.protocol, one.client) for one in made} >= {(p, c) for p in EVERY for c in CLIENTS}
    assert {one.parameters["users"] for one in made} >= set(LOADS)


def test_the_largest_group_is_right_or_names_rivals_or_is_wrong() -> None:
    seconds = np.zeros(len(CAUSES))
    server, idle, limit = (next(one for one in CAUSES if one.name == name) for name in ("server", "idle", "limit"))
    seconds[NUMBER[server]], seconds[NUMBER[idle]] = 0.2, 0.1
    groups = {"server": 0.2, "idle": 0.1, "limit": 0.0}
    assert verdict(groups, seconds, Truth({"server"})) == ("right", "server")
    assert verdict(groups, seconds, Truth({"idle"})) == ("wrong", "server")
    uncertain = replace(server, name="not-known")
    object.__setattr__(uncertain, "rivals", ("idle", "limit"))
    causes = tuple(uncertain if one is server else one for one in CAUSES)
    assert verdict(groups, seconds, Truth({"idle"}), causes) == ("rivals", "server")
    assert verdict(groups, seconds, Truth({"loss"}), causes) == ("wrong", "server")
    assert limit.group == "limit"


def test_of_two_causes_each_has_its_share_of_what_both_cost() -> None:
    assert shares({"made": 9.0, "without": 9.0}) == []
    apart = shares({"made": 9.0, "without": 2.0, "without-0": 4.0, "without-1": 7.0})
    assert apart == [5.0, 2.0]
    hidden = shares({"made": 9.0, "without": 2.0, "without-0": 8.0, "without-1": 8.0})
    assert hidden == [3.5, 3.5]


def test_what_the_record_of_packets_does_not_cover_is_left_out(bench: Bench) -> None:
    full_link = Scene(network(ms=20, mbit=5), "h2", parameters={"size": "500kB"})
    folder = bench.carry_out(full_link, "short-record", seed=1, packets=1000)  # of some 600 a request
    explained = explain(folder, [OK])
    asked = len(stored_rows(folder / "samples.parquet"))
    assert 0 < len(explained.phases) < asked
    assert explained.seconds[:, NUMBER[UNATTRIBUTED]].max() == 0
    assert not explain(folder, [201]).rows  # which no answer has
