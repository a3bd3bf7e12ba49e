"""The metrics of a trial: each rests on what the table says that it needs, and on nothing else."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from h123.documents.lab_report import Cpu, RoleReport
from h123.documents.trial_files import SECOND_SERVER, ClientFile
from h123.measures.metrics import measure
from h123.measures.summary import summarise
from h123.store.columns import REQUIRED, RETRIED_COLUMNS
from h123.store.rows import Rows
from h123.study import METRICS, Metric
from h123.study.metrics.quantity import PageTime
from h123.study.networks.network import Change, Move
from h123.study.workload import workload_of
from results.full_trial import AGAIN, FACTS, LINK, MS, NEVER_NULL, VISITS, WAYS, Trial, full_trial

ALWAYS = {"phase", "user", "status", "error", "protocol"}


@pytest.fixture(scope="module")
def trial() -> Trial:
    return full_trial()


EACH = pytest.mark.parametrize("one", METRICS.values(), ids=METRICS)


@EACH
def test_what_it_needs_is_enough(one: Metric, trial: Trial, tmp_path: Path) -> None:
    unneeded = {*RETRIED_COLUMNS} - ALWAYS - {*one.needs.columns}
    value = trial.value(tmp_path, one.name)
    assert value
    assert trial.without(unneeded).value(tmp_path, one.name) == value
    if not one.needs.packets:
        assert replace(trial, openings=[]).value(tmp_path, one.name) == value
    if not one.needs.counterpart:
        assert replace(trial, counterpart=False).value(tmp_path, one.name) == value
    if not one.needs.breaks:
        assert replace(trial, moves=[]).value(tmp_path, one.name) == value
    others = {told for other in METRICS.values() for told in other.needs.report} - {*one.needs.report}
    for told in others:
        assert trial.silent(told).value(tmp_path, one.name) == value


@EACH
def test_without_what_it_needs_it_has_no_value(one: Metric, trial: Trial, tmp_path: Path) -> None:
    if {*one.needs.columns} - {*NEVER_NULL}:
        assert trial.without({*one.needs.columns}).value(tmp_path, one.name) is None
    for column in {*one.needs.columns} - {*REQUIRED} - {*NEVER_NULL}:
        assert trial.without({column}).value(tmp_path, one.name) is None, column
    for told in one.needs.report:
        assert trial.silent(told).value(tmp_path, one.name) is None, told
    for told in one.needs.facts:
        assert trial.mute(told).value(tmp_path, one.name) is None, told
    if one.needs.packets:
        assert replace(trial, openings=[]).value(tmp_path, one.name) is None
    if one.needs.breaks:
        assert replace(trial, moves=[]).value(tmp_path, one.name) is None
    if one.needs.counterpart:
        assert replace(trial, counterpart=False).value(tmp_path, one.name) is None
    if one.needs.requests > 1:
        assert trial.head(one.needs.requests).value(tmp_path, one.name)
        assert trial.head(one.needs.requests - 1).value(tmp_path, one.name) is None


@EACH
def test_what_only_some_clients_tell_is_asked_of_them_alone(one: Metric, trial: Trial, tmp_path: Path) -> None:
    told = trial.value(tmp_path, one.name)
    for facts in (None, ClientFile(h123="client/1")):
        value = replace(trial, facts=facts).value(tmp_path, one.name)
        assert value == (None if "process" in one.needs.client or one.needs.facts else told)


@EACH
def test_it_has_a_value_under_its_clocks_alone(one: Metric, trial: Trial, tmp_path: Path) -> None:
    known = {clock for clock in ("wall", "virtual") if trial.value(tmp_path, one.name, clock) is not None}
    assert known == {*one.clocks}


def test_the_rate_of_requests_is_of_the_warm_ones_that_succeeded(trial: Trial, tmp_path: Path) -> None:
    """300, the first at 40 ms, the last from 6.02 s on for 15.3 ms; of which half fail."""
    seconds = 6.0353 - 0.04
    assert trial.value(tmp_path, "rps") == pytest.approx(300 / seconds)
    half = [500 if number % 2 else 200 for number in range(301)]
    failing = replace(trial, samples=trial.changed("status", half))
    assert failing.value(tmp_path, "rps") == pytest.approx(150 / seconds)


def test_the_stages_of_a_visit_s_requests_add_up_to_the_mean_request(trial: Trial, tmp_path: Path) -> None:
    """6 ms until each is sent, of one in three on a new connection; 4 ms to the first byte; 5 ms and n us to the last,
    of request number n: the mean one of the visit in the middle is number 150.5."""
    stages = [trial.value(tmp_path, f"page_{name}") for name in ("queued", "connecting", "waiting", "receiving")]
    assert stages == pytest.approx([0.004, 0.002, 0.004, 0.0051505])
    firefox = trial.without({"sent_ns"})
    assert firefox.value(tmp_path, "page_waiting") is None
    assert firefox.value(tmp_path, "page_receiving") == pytest.approx(0.0051505)


def test_a_page_has_loaded_when_its_browser_says_so(trial: Trial, tmp_path: Path) -> None:
    """100 ms and n us after the start of visit number n, and 80 ms."""
    assert trial.value(tmp_path, "page_onload") == pytest.approx(0.1 + 49.5e-6)
    assert trial.value(tmp_path, "page_dom_content_loaded") == pytest.approx(0.08)


@pytest.mark.parametrize(("failing", "told"), [(49, 0.1 + 98.5e-6), (51, math.inf)])
def test_a_visit_whose_load_never_came_is_slower_than_any(
    trial: Trial, tmp_path: Path, failing: int, told: float
) -> None:
    """The first visits are the quickest: without 49 of them the one in the middle is between numbers 98 and 99."""
    visits = [one.model_copy(update={"load_ns": None}) if one.group < failing else one for one in VISITS]
    failed = replace(trial, facts=FACTS.model_copy(update={"visits": visits}))
    assert failed.value(tmp_path, "page_onload") == pytest.approx(told)


@pytest.mark.parametrize(
    "name", [name for name, one in METRICS.items() if one.of_visits and one.of != PageTime("document")]
)
def test_a_visit_of_which_a_request_failed_is_worse_than_any(name: str, trial: Trial, tmp_path: Path) -> None:
    """Of each of 51 visits the largest resource, which is the last."""
    failing = [500 if number and number <= 153 and number % 3 != 1 else 200 for number in range(301)]
    assert replace(trial, samples=trial.changed("status", failing)).value(tmp_path, name) == math.inf


def test_what_stands_behind_the_server_is_no_part_of_it(trial: Trial, tmp_path: Path) -> None:
    roles = [role.model_copy(update={"cpu": Cpu(main_ns=301 * MS)}) for role in trial.report.roles]
    apart = replace(trial, report=trial.report.model_copy(update={"roles": roles}))
    assert apart.value(tmp_path, "cpu_backend") == pytest.approx(0.001)
    assert apart.value(tmp_path, "cpu") == pytest.approx(0.002)
    store = [*roles, RoleReport(name="backend", cpu=Cpu(main_ns=602 * MS))]
    both = replace(trial, report=trial.report.model_copy(update={"roles": store}))
    assert both.value(tmp_path, "cpu_backend") == pytest.approx(0.003)
    alone = replace(trial, report=trial.report.model_copy(update={"roles": roles[:2]}))
    assert alone.value(tmp_path, "cpu_backend") is None


def test_packets_are_counted_at_the_clients_link_each_way(trial: Trial, tmp_path: Path) -> None:
    assert trial.value(tmp_path, "packets_up") == trial.value(tmp_path, "packets_down") == pytest.approx(900 / 301)


def test_connections_are_not_counted_where_the_record_had_no_room(trial: Trial, tmp_path: Path) -> None:
    assert trial.value(tmp_path, "page_connections") == 2
    cut = LINK.model_copy(update={"packets_left_out": 1})
    full = replace(trial, report=trial.report.model_copy(update={"links": [cut]}))
    assert full.value(tmp_path, "page_connections") is None


def test_a_program_begins_before_its_requests_and_ends_after_them(trial: Trial, tmp_path: Path) -> None:
    """It runs from 0 to 10 s; the first request begins at 20 ms, the last ends at 6.0353 s."""
    assert trial.value(tmp_path, "process_start") == pytest.approx(0.02)
    assert trial.value(tmp_path, "process_end") == pytest.approx(10 - 6.0353)


def test_a_lost_packet_costs_what_the_trial_beside_it_did_not_take(trial: Trial, tmp_path: Path) -> None:
    """Of 1 and 2 ms the longer is the lost packet's own; 50 us more is no difference."""
    assert trial.value(tmp_path, "lost_packet") == pytest.approx(0.003)
    assert trial.value(tmp_path, "lost_packet_others") == pytest.approx(0.001)


def test_a_client_that_moves_has_recovered_with_the_next_answer(trial: Trial, tmp_path: Path) -> None:
    """Answers come every 20 ms; request number n ends at 20 n + 35 ms and n us."""
    moved = replace(trial, moves=[Move(at_ns=at * MS, new="address") for at in (115, 2_000)])
    first, second = 4e-6, 0.015099
    assert moved.value(tmp_path, "recovery") == pytest.approx((first + second) / 2)
    late = replace(trial, moves=[Move(at_ns=7_000 * MS, new="port")])
    assert late.value(tmp_path, "recovery") == math.inf
    failed = replace(moved, samples=trial.changed("status", [500] * 301))
    assert failed.value(tmp_path, "recovery") == math.inf


def test_where_udp_is_stopped_it_has_recovered_with_the_next_answer(trial: Trial, tmp_path: Path) -> None:
    """What was asked before may have been under way, and its answer shows nothing. Each time is one break, however
    often UDP is stopped at it; letting it pass again is none."""
    stops = [
        Change(at_ns=115 * MS, udp="reject"),
        Change(at_ns=2_000 * MS, udp="drop"),
        Change(at_ns=2_100 * MS, udp="pass"),
    ]
    # Requests begin every 20 ms: the first after the second stop at 2000 ms, and ends 15.098 ms later.
    stopped = replace(trial, changes=stops, moves=[Move(at_ns=115 * MS, new="port")])
    assert stopped.value(tmp_path, "recovery") == pytest.approx((4e-6 + 0.015099) / 2)
    alone = replace(trial, changes=stops[:1], moves=[])
    assert alone.value(tmp_path, "recovery") == pytest.approx(0.005 + 0.015005)


def test_what_fell_back_is_the_share_of_the_answers_over_the_other_protocol(trial: Trial, tmp_path: Path) -> None:
    names = [("h3", "h2", "h3", "h3")[number % 4] for number in range(301)]
    mixed = replace(trial, samples=trial.changed("protocol", names))
    assert mixed.value(tmp_path, "fell_back") == pytest.approx(100 * 75 / 301)
    assert trial.value(tmp_path, "fell_back") == 100


def test_what_came_over_ipv6_is_a_share_of_the_bytes_that_arrived(trial: Trial, tmp_path: Path) -> None:
    assert trial.value(tmp_path, "over_ipv6") == 25


def test_what_is_abandoned_is_no_failure_and_no_part_of_a_latency(trial: Trial, tmp_path: Path) -> None:
    """Of 300 warm requests 100 are to be left, and 50 are. 251 answers of 1000 bytes came whole."""
    file = tmp_path / "left.parquet"
    Rows.of(trial._left()).write(file)
    found = summarise(Rows.read(file), workload_of({"method": "GET", "size": 1000}))
    assert (found.warm, found.leaving, found.abandoned) == (200, 100, 50)
    assert (found.errors, found.refused, found.warm_ok) == (0, 0, 200)
    took = [15 * MS + number * 1000 for number in range(1, 301) if number % 3]
    assert found.latency_ns
    assert found.latency_ns[0] == np.median(took)
    assert trial.value(tmp_path, "abandonment") == 50
    down = WAYS["down"].bytes_delivered
    assert down
    assert trial.value(tmp_path, "wasted") == pytest.approx(100 * (1 - 251_000 / down))


def test_requests_that_are_made_again_are_counted_once(trial: Trial, tmp_path: Path) -> None:
    """Of 300 warm requests 75 were made twice. 301 answers of 1000 bytes came whole."""
    file = tmp_path / "again.parquet"
    Rows.of(trial.samples).write(file)
    found = summarise(Rows.read(file), workload_of(AGAIN))
    once = summarise(Rows.read(file), workload_of({"method": "GET", "size": 1000}))
    assert (found.retried, once.retried) == (75, None)
    assert (found.rows, found.warm_ok, found.latency_ns) == (once.rows, once.warm_ok, once.latency_ns)
    assert (found.handshakes, once.handshakes) == (None, 1)  # those of other tries have no row
    assert trial.value(tmp_path, "retried") == 25
    values = [measure(one, trial.report, None)["wasted"] for one in (found, once)]
    assert values == [pytest.approx(100 * (1 - 301_000 / 602_000)), None]


def test_what_two_servers_use_is_no_servers(trial: Trial, tmp_path: Path) -> None:
    roles = [*trial.report.roles, RoleReport(name=SECOND_SERVER, max_rss_bytes=20_000_000)]
    two = replace(trial, report=trial.report.model_copy(update={"roles": roles}))
    assert [two.value(tmp_path, name) for name in ("memory_server", "cpu_server", "cpu", "cpu_warm")] == [None] * 4
    assert two.value(tmp_path, "memory_client") == 50_000_000
    assert two.value(tmp_path, "cpu_client") == trial.value(tmp_path, "cpu_client")


def test_memory_is_the_roles_own_peak(trial: Trial, tmp_path: Path) -> None:
    assert trial.value(tmp_path, "memory_server") == 30_000_000
    assert trial.value(tmp_path, "memory_client") == 50_000_000


@pytest.mark.parametrize("size", [0, None])
def test_no_peak_no_memory(trial: Trial, tmp_path: Path, size: int | None) -> None:
    roles = [role.model_copy(update={"max_rss_bytes": size}) for role in trial.report.roles]
    silent = replace(trial, report=trial.report.model_copy(update={"roles": roles}))
    assert silent.value(tmp_path, "memory_server") is None


def test_what_was_sent_is_counted_at_the_clients_link_each_way(trial: Trial, tmp_path: Path) -> None:
    assert trial.value(tmp_path, "sent_up") == 100
    assert trial.value(tmp_path, "sent_down") == 2000


def test_a_veth_counts_nothing_that_was_sent(trial: Trial, tmp_path: Path) -> None:
    veth = LINK.model_copy(update={"directions": None})
    over_lan = replace(trial, report=trial.report.model_copy(update={"links": [veth]}))
    assert over_lan.value(tmp_path, "sent_up") is None
