"""Every audit passes on sound data and fails on data with exactly the fault it is for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from analysis.spoiled import (
    FAULTS,
    MS,
    TRANSFORMED,
    all_cpu,
    client_cpu,
    down,
    facts,
    imported,
    loaded,
    opened,
    opening,
    parameters,
    report,
    summary,
)
from h123.analysis.audits import AUDITS, peers
from h123.analysis.audits.finding import Audit
from h123.analysis.audits.path import capacity_bits, round_trip_floor_ns
from h123.analysis.case import Case
from h123.analysis.gathering import gather
from h123.documents.trial_files import Link
from h123.measures import Attempt, Opening
from h123.study.networks.network import Direction
from synthetic import Scenario, make_campaign

CHECKS = {check.name: check.check for check in AUDITS}


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return gather(make_campaign(tmp_path_factory.mktemp("audits") / "c", Scenario(blocks=4)))


@pytest.fixture(scope="module")
def attempts(case: Case) -> list[Attempt]:
    return list(case.trials.attempts)


@pytest.fixture(scope="module")
def sound(attempts: list[Attempt]) -> Attempt:
    return next(a for a in attempts if a.cell == {"network": "poor", "protocol": "h3"})


@pytest.mark.parametrize("name", CHECKS)
def test_sound_data_pass(attempts: list[Attempt], name: str) -> None:
    transform = TRANSFORMED.get(name, lambda attempt: attempt)
    findings = [CHECKS[name](transform(attempt)) for attempt in attempts]
    assert sum(finding is not None for finding in findings) >= len(attempts) / 4
    assert [finding for finding in findings if finding and not finding.passed] == []


@pytest.mark.parametrize(("name", "spoil"), FAULTS)
def test_one_fault_fails_one_audit(sound: Attempt, name: str, spoil: Callable[[Attempt], Attempt]) -> None:
    finding = CHECKS[name](spoil(sound))
    assert finding is not None
    assert not finding.passed
    assert finding.detail


@pytest.mark.parametrize(
    ("round_trips", "false_start", "possible"),
    [(2.5, False, False), (3.0, False, True), (1.5, True, False), (2.0, True, True)],
)
def test_an_older_tls_is_right_where_it_is_asked_for_and_takes_its_round_trips(
    sound: Attempt, round_trips: float, false_start: bool, possible: bool
) -> None:
    took = summary(handshake_min_ns=round(round_trips * round_trip_floor_ns(sound.link)))(sound)
    older = parameters(protocol="h2", tls="1.2")(facts(tls=[{"version": "1.2"}])(took))
    older = replace(older, false_start=false_start)
    found = {name: CHECKS[name](older) for name in ("tls-wrong", "handshake-below-round-trips")}
    assert {name: finding and finding.passed for name, finding in found.items()} == {
        "tls-wrong": True,
        "handshake-below-round-trips": possible,
    }


@pytest.mark.parametrize(("made", "passed"), [("X25519", False), ("X25519MLKEM768", True)])
def test_the_key_share_is_the_one_asked_for(sound: Attempt, made: str, passed: bool) -> None:
    kinds = facts(tls=[{"version": "1.3", "key_exchange": made}])(sound)
    finding = CHECKS["tls-wrong"](parameters(key_share="X25519MLKEM768")(kinds))
    assert finding is not None
    assert finding.passed == passed
    assert f"TLS 1.3 with {made}" in finding.detail


def test_a_handshake_that_failed_has_no_version_to_tell(sound: Attempt) -> None:
    silent = facts(tls=[])(summary(cold_ok=0, handshake_min_ns=None, errors=1)(sound))
    assert CHECKS["tls-wrong"](silent) is None
    ended, older = summary(handshake_min_ns=100 * MS)(silent), facts(tls=[{"version": "1.2"}])(silent)
    for attempt in (ended, older):
        finding = CHECKS["tls-wrong"](attempt)
        assert finding is not None
        assert not finding.passed


@pytest.mark.parametrize(
    ("asked", "told", "passed"),
    [
        ("full", {}, None),
        ("full", {"resumed": True}, False),
        ("resumed", {"resumed": True}, True),
        ("resumed", {"resumed": True, "early": True}, False),
        ("early", {"resumed": True, "early": True}, True),
        ("early", {"resumed": True}, False),
        ("early", {}, False),
    ],
)
def test_handshakes_are_those_that_the_study_asks_for(
    sound: Attempt, asked: str, told: dict[str, bool], passed: bool | None
) -> None:
    others = {"version": "1.3", "connections": 3, "resumed": asked != "full", "early": asked == "early"}
    trial = facts(tls=[others, {"version": "1.3", "connections": 1, **told}])(parameters(sessions=asked)(sound))
    finding = CHECKS["sessions-wrong"](trial)
    assert (finding and finding.passed) == passed
    assert finding is None or "of 4 connections" in finding.detail
    assert CHECKS["sessions-wrong"](imported(trial)) is None
    assert CHECKS["sessions-wrong"](facts(tls=[])(trial)) is None


@pytest.mark.parametrize(("opened_fast", "lost", "passed"), [(4, 0, True), (3, 1, True), (3, 0, False), (0, 0, False)])
def test_a_kernel_without_fast_open_makes_no_fast_open(
    sound: Attempt, opened_fast: int, lost: int, passed: bool
) -> None:
    """But a first packet that was lost says nothing of it."""

    def counted(content: dict[str, Any]) -> None:
        content["hosts"][0]["counters"]["after"]["TcpExt.TCPFastOpenActive"] = opened_fast
        for way in content["links"][0]["directions"].values():
            way["lost"] = 0
        down(content)["lost"] = lost

    resuming = facts(tls=[{"version": "1.3", "connections": 4, "resumed": True}])(sound)
    finding = CHECKS["sessions-wrong"](parameters(protocol="h2", sessions="fast-open")(report(counted)(resuming)))
    assert finding is not None
    assert finding.passed == passed
    assert f"{opened_fast} had TCP Fast Open" in finding.detail


@pytest.mark.parametrize(
    ("openings", "change", "passed", "said"),
    [
        ([opening(2)] * 3, {}, True, "of 3 connections 3 took 2; 2 expected"),
        ([opening(3, retried=True), opening(2)], {}, True, "1 took 2, 1 took 3 (a Retry); 2 expected"),
        (
            [opening(3, limited=True, losses=True)],
            {},
            True,
            "1 took 3 (packets were lost and QUIC's anti-amplification limit",
        ),
        ([opening(4)], {"protocol": "h2", "certificate": 15_000}, True, "1 took 4 (TCP's initial window: the cert"),
        ([opening(3)], {"protocol": "h2", "certificate": 15_000}, False, "1 took 3; 4 expected"),
        ([opening(5)], {"protocol": "h2", "certificate": 15_000}, False, "1 took 5; 4 expected"),
        ([opening(3), opening(4)], {"protocol": "h2", "certificate": 13_500}, True, "1 took 3, 1 took 4 (TCP's"),
        ([opening(4)], {"protocol": "h2", "certificate": 9_000}, False, "1 took 4; 3 expected"),
        ([opening(4)], {"protocol": "h2", "certificate": 40_000, "initial_window": 28}, True, "; 3 or 4 expected"),
        ([opening(3)], {"protocol": "h2", "certificate": 15_000, "sessions": "resumed"}, True, "; 3 expected"),
        ([opening(5, request_round_trips=4)], {"protocol": "h2", "certificate": 15_000}, True, "sent nothing of the"),
        (
            [opening(3)],
            {"certificate_wait": 1, "instant_ack": True},
            True,
            "1 took 3 (the client sent more packets whi",
        ),
        ([opening(3)], {"certificate_wait": 1, "instant_ack": False}, False, "1 took 3; 2 expected"),
        ([opening(3)], {"clock": "wall"}, True, "1 took 3; 2 expected"),
        ([opening(1)], {"clock": "wall"}, False, "1 took 1; 2 expected"),
        ([opening(1)], {"sessions": "early"}, True, "1 took 1; 1 expected"),
        ([opening(2)], {"sessions": "early"}, True, "1 took 2 (early data was refused); 1 expected"),
        ([opening(3)], {}, False, "1 took 3; 2 expected"),
        ([opening(2)], {"protocol": "h2", "sessions": "fast-open"}, True, "1 took 2; 2 expected"),
        # The request was sent when it should be: what follows is the server's.
        (
            [opening(3, request_round_trips=2)],
            {},
            True,
            "1 took 3 (the server sent nothing of the response in the round trip of",
        ),
        (
            [opening(4, request_round_trips=2, early_part=True)],
            {},
            True,
            "1 took 4 (the response had begun, and its first TLS record did not",
        ),
        ([opening(3, request_round_trips=3)], {}, False, "1 took 3; 2 expected"),
        ([opening(3, request_round_trips=1)], {}, False, "1 took 3; 2 expected"),  # that is when it was due
    ],
)
def test_round_trips_beyond_the_protocols_have_a_name(
    sound: Attempt, openings: list[Opening], change: dict[str, Any], passed: bool, said: str
) -> None:
    finding = CHECKS["round-trips-odd"](parameters(**change)(opened(*openings)(sound)))
    assert finding is not None
    assert finding.passed == passed
    assert said in finding.detail


def test_an_answer_to_an_upload_takes_the_round_trips_that_it_takes(sound: Attempt) -> None:
    assert CHECKS["round-trips-odd"](parameters(method="POST")(opened(opening(9))(sound))) is None


def test_saturated_machine_tells_what_the_services_waited(sound: Attempt) -> None:
    def wait(content: dict[str, Any]) -> None:
        all_cpu(content)
        content["roles"][0]["cpu"].update(main_wait_ns=3_500_000, main_turns=50)

    finding = CHECKS["machine-saturated"](report(wait)(sound))
    assert finding is not None
    assert f"a ready thread of the {sound.report.roles[0].name} waited 0.07 ms" in finding.detail


def test_every_audit_has_a_fault_and_an_explanation() -> None:
    assert {name for name, _ in FAULTS} == set(CHECKS)
    for check in [*AUDITS, *peers.AUDITS]:
        assert check.meaning.endswith("."), check.name
        assert check.failure.endswith("."), check.name
        assert check.failure[0].islower(), check.name
        assert "failure means" not in check.meaning, check.name
        assert (check.check if isinstance(check, Audit) else check.findings).__doc__, check.name


def test_a_link_without_limits_is_not_held_to_any(attempts: list[Attempt]) -> None:
    lan = next(a for a in attempts if a.cell["network"] == "lan")
    physics = ["goodput-above-link", "requests-above-littles-law", "handshake-below-round-trips"]
    for name in [*physics, "first-byte-below-round-trip", "loss-mismatch", "packets-unaccounted"]:
        assert CHECKS[name](lan) is None


def losing(attempt: Attempt, loss: dict[str, Any] | None) -> Link:
    """Its link with this loss in both directions."""
    link = attempt.link.model_dump(exclude_unset=True)
    return Link.model_validate(link | {name: {**link[name], "loss": loss} for name in ("up", "down")})


def test_loss_other_than_random_is_not_held_to_a_binomial(sound: Attempt) -> None:
    bursts = {"gilbert_elliott": {"p": 0.1, "r": 0.3, "loss_good": 0, "loss_bad": 1}}
    assert CHECKS["loss-mismatch"](replace(sound, link=losing(sound, bursts))) is None


def test_a_link_without_loss_must_lose_nothing(sound: Attempt) -> None:
    finding = CHECKS["loss-mismatch"](replace(sound, link=losing(sound, None)))
    assert finding is not None
    assert not finding.passed


def test_round_trip_floor_takes_the_shortest_of_all_changes_and_jitter() -> None:
    link = {
        "up": {"delay_ns": 20 * MS, "jitter": {"spread_ns": 5 * MS, "distribution": "uniform"}},
        "down": {"delay_ns": 30 * MS, "changes": [{"at_ns": 1, "delay_ns": 10 * MS}, {"at_ns": 2, "udp": "drop"}]},
    }
    assert round_trip_floor_ns(Link.model_validate(link)) == 25 * MS
    assert round_trip_floor_ns(Link(kind="veth")) == 0


def test_capacity_of_rates_changes_and_traces() -> None:
    def capacity(way: dict[str, Any], seconds: float) -> float | None:
        return capacity_bits(Direction.model_validate(way), seconds)

    assert capacity({"rate": {"bps": 1000}}, 2.0) == 2000
    assert capacity({"rate": {"bps": 1000}, "changes": [{"at_ns": 5, "rate": {"bps": 3000}}]}, 2.0) == 6000
    assert capacity({}, 2.0) is None
    # Three opportunities in the last 2 ms of 10: 3 ms hold at most those, and 13 ms those and three more.
    trace = {"rate": {"trace_ms": [8, 9, 10], "opportunity_bytes": 1500}}
    assert capacity(trace, 0.003) == 3 * 12000
    assert capacity(trace, 0.013) == 6 * 12000
    assert capacity(trace, 1.0) == pytest.approx(300 * 12000, rel=0.02)


def test_a_browser_has_more_than_one_processor(sound: Attempt) -> None:
    check, busy = CHECKS["client-saturated"], report(client_cpu)(sound)
    browser = loaded("load_ns", 0)
    cpus = busy.report.machine.cpus
    found = check(browser(busy)), check(parameters(affinity="apart")(browser(busy)))
    assert [one and one.value for one in found] == pytest.approx([0.93 / cpus, 0.93 / max(1, cpus // 2)])


def test_a_virtual_clock_has_no_load_to_check(sound: Attempt) -> None:
    virtual = parameters(clock="virtual")
    for name, spoil in (("client-saturated", client_cpu), ("machine-saturated", all_cpu)):
        assert CHECKS[name](virtual(report(spoil)(sound))) is None


SENDERS = [
    ("h3", "POST", "cubic", False),
    ("h3", "GET", "cubic", True),
    ("h2", "GET", "cubic", False),
    ("h3", "POST", "default", True),
]


@pytest.mark.parametrize(("protocol", "method", "asked", "right"), SENDERS)
def test_a_client_that_sends_has_the_controller_asked(
    sound: Attempt, protocol: str, method: str, asked: str, right: bool
) -> None:
    told = parameters(protocol=protocol, method=method, congestion=asked)(facts(congestion="reno")(sound))
    found = CHECKS["congestion-wrong"](told)
    assert found is not None
    assert found.passed is right


def _own_delay(attempts: list[Attempt], shares: dict[str, float], **changes: Any) -> list[Attempt]:
    """As if the client took these shares of the median request, by protocol."""
    told = []
    for attempt in attempts:
        own = round((attempt.summary.latency_ns or [0])[0] * shares[attempt.cell["protocol"]])
        spread = {"p50": own, "p99": own, "max": own}
        delay = {"late_ns": {"p50": 0, "p99": 0, "max": 0}, "held_ns": spread, "both_ns": spread}
        told.append(parameters(**changes)(facts(delay=delay)(attempt)))
    return told


@pytest.mark.parametrize(
    ("shares", "failed"),
    [
        ({"h1": 0.0, "h2": 0.0, "h3": 0.0}, set()),
        ({"h1": 0.4, "h2": 0.4, "h3": 0.4}, set()),  # a share of all alike moves no ratio
        ({"h1": 0.1, "h2": 0.1, "h3": 0.12}, set()),  # 0.88 / 0.9 is 2.2 % off
        ({"h1": 0.1, "h2": 0.1, "h3": 0.13}, {"h1", "h2", "h3"}),  # 3.3 %, and the margin is 5 %
        ({"h1": 0.0, "h2": 0.0, "h3": 1.5}, {"h1", "h2", "h3"}),
    ],
)
def test_the_clients_own_delay_is_named_where_it_moves_a_ratio(
    case: Case, attempts: list[Attempt], shares: dict[str, float], failed: set[str]
) -> None:
    found = peers.client_delay(_own_delay(attempts, shares), case.plan)
    assert len(found) == len(attempts)
    assert {attempt.cell["protocol"] for attempt, finding in found if not finding.passed} == failed


def test_a_client_that_does_not_tell_its_delay_or_takes_no_time_is_not_held_to_it(
    case: Case, attempts: list[Attempt]
) -> None:
    assert peers.client_delay(attempts, case.plan) == []
    shares = {"h1": 0.0, "h2": 0.0, "h3": 0.9}
    assert peers.client_delay(_own_delay(attempts, shares, clock="virtual"), case.plan) == []
