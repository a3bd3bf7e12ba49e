"""What a stack does with ECN and with packets that are too large for their path, as its packets show it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.catalogue import catalogue
from h123.execution import LocalPool
from h123.packets.capture import DELIVERED, DOWN, LOST, MARKED, PACKET, TOO_LARGE, UDP, Packets
from h123.study.networks.network import Network
from h123.verification.constants.findings import NotMeasurable
from h123.verification.paths import PathBehaviour, checks, measure_paths, path_cells
from h123.verification.paths.findings import Limited, Payloads, Spoilt
from h123.verification.paths.judgement import LEAST, codepoint, datagrams, limited, reaction, sent_by, spoilt
from h123.verification.paths.measure import DELAY_NS, PATHS, path_network

MS = 1_000_000
NONE, ECT1, ECT0, CE = range(4)


def sent(fields: list[int], gap: int = MS, payload: int = 1200) -> Packets:
    """Return packets with these ECN fields, one each `gap`, that take 20 ms."""
    table = np.zeros(len(fields), PACKET)
    table["at_ns"] = np.arange(len(fields)) * gap
    table["left_ns"] = table["at_ns"] + DELAY_NS
    table["ecn"], table["payload"], table["protocol"], table["way"] = fields, payload, UDP, DOWN
    return table


def sender(window: int, after: int, mark: int, count: int) -> Packets:
    """Return packets over a queue of 1 ms each, of a sender that hears of a packet's mark and changes its window."""
    table, left, heard, entered = sent([ECT0] * count), 0, [], 0
    for number in range(count):
        limit = window if number <= mark or entered < heard[mark] else after
        if number >= limit:
            entered = max(entered, heard[number - limit])
        left = max(left, entered) + MS
        table[number]["at_ns"], table[number]["left_ns"] = entered, left + DELAY_NS
        heard.append(left + 2 * DELAY_NS)
    table[mark]["ecn"] |= MARKED
    return table


@given(st.integers(0, 90), st.integers(0, 90), st.integers(LEAST, 200))
def test_the_codepoint_is_the_more_common_one(zero: int, one: int, others: int) -> None:
    name, share = codepoint(sent([CE, NONE] * others + [ECT1] * one + [ECT0] * zero))
    assert name == ("none" if not zero + one else "ect0" if zero >= one else "ect1")
    assert share == pytest.approx(max(zero, one) / (2 * others + zero + one), abs=0.001)


@given(st.integers(1, 100), st.integers(LEAST, 300))
def test_a_sender_that_stops_uses_no_more_ecn(tested: int, others: int) -> None:
    found = spoilt(sent([ECT0] * tested + [NONE] * others))
    assert (found.ect, found.stopped) == (tested, (tested - 1) / 1000)
    assert spoilt(sent([NONE] * tested + [ECT1] * others)).stopped is None


def test_a_sender_may_test_again_from_time_to_time() -> None:
    again = [ECT0 if number % 20 == 0 else NONE for number in range(400)]
    assert spoilt(sent(again)).stopped == 0.38
    with pytest.raises(NotMeasurable):
        spoilt(sent([NONE] * 200))
    with pytest.raises(NotMeasurable, match="50 packets"):
        spoilt(sent([ECT0] * 50))
    assert spoilt(sent([ECT0] * 10 + [NONE] * 40)).stopped == 0.009
    assert spoilt(sent([ECT0] * 20), complete=False).stopped is None


@given(st.integers(60, 200), st.floats(0.2, 1))
def test_the_share_in_flight_that_remains_is_the_windows(window: int, share: float) -> None:
    after = round(window * share)
    table = sender(window, after, mark=2 * window, count=6 * window)
    assert reaction(table, DELAY_NS).keeps == pytest.approx(after / window, abs=0.05)


def test_a_reaction_needs_a_mark_a_body_and_no_losses() -> None:
    for change, why in (("ecn", "no packet was marked"), ("fate", "also dropped")):
        table = sender(100, 70, 200, 600)
        table[250 if change == "fate" else 200][change] = LOST if change == "fate" else ECT0
        with pytest.raises(NotMeasurable, match=why):
            reaction(table, DELAY_NS)
    with pytest.raises(NotMeasurable, match="too soon"):
        reaction(sender(100, 70, 200, 205), DELAY_NS)


def test_what_follows_a_black_hole() -> None:
    table = sent([NONE] * 300, payload=1400)
    assert limited(table, 100 * MS, complete=True) == Limited(too_large=0, resumed=0.0, complete=True)
    table["fate"][100:200:2] = TOO_LARGE
    table["payload"][101:200] = 40
    found = limited(table, 100 * MS, complete=True)
    assert found == Limited(too_large=50, until=0.098, resumed=0.1, complete=True)
    assert limited(table, 100 * MS, complete=False).resumed is None
    with pytest.raises(NotMeasurable):
        limited(table, 300 * MS, complete=True)


def test_sizes_and_packets_of_others() -> None:
    table = np.concatenate([sent([NONE], payload=1250), sent([NONE] * 200, payload=1300), sent([NONE], payload=1452)])
    assert datagrams(table) == Payloads(first=1250, common=1300, largest=1452)
    table["way"][:50] = 1 - DOWN
    table["payload"][50] = 0
    assert len(sent_by(table, DOWN, UDP)) == 151
    assert (table["fate"] == DELIVERED).all()


def test_nothing_to_check_is_not_passed() -> None:
    small = Limited(too_large=3, until=0.1, resumed=0.2, complete=True)
    plain = PathBehaviour(
        role="server", clock="wall", ect="none", datagrams=Payloads(first=1, common=2, largest=3), small=small
    )
    assert [result.verdict for _, result in checks(plain)] == ["unsupported", "unsupported", "passed", "unsupported"]
    assert path_cells(plain)["MTU of 1280"] == "goes on after 200 ms, 3 too large"
    keeps = Spoilt(ect=900, complete=True)
    bad = plain.model_copy(
        update={"ect": "ect0", "bleach": keeps, "mark": keeps, "small": Limited(too_large=9, complete=False)}
    )
    assert [result.verdict for _, result in checks(bad)] == ["failed", "unsupported", "failed", "unsupported"]
    cells = path_cells(bad)
    assert (cells["ECN bleached"], cells["all marked"]) == ("fails: goes on", "goes on")
    at_once = bad.model_copy(update={"bleach": Spoilt(ect=3, stopped=0.0, complete=True)})
    assert next(checks(at_once))[1].verdict == "passed"
    assert list(checks(bad.model_copy(update={"protocol": "h2"}))) == []


def test_the_reason_is_that_of_the_path_that_should_have_shown_it() -> None:
    """Reasons are named after paths, and `ect` is no path: it was `not measured`."""
    found = PathBehaviour(role="server", clock="wall", unknown={"plain": "the client failed", "small": "too slow"})
    reasons = {field: found.why(field) for field in ("ect", "datagrams", "bleach", "icmp", "small", "reports")}
    assert list(reasons.values()) == [*["the client failed"] * 4, "too slow", "not measured"]


def test_only_the_senders_direction_is_special() -> None:
    for name in PATHS:
        network: Network = path_network(name, DOWN)
        assert network.up == path_network("plain", DOWN).up
        assert (network.down == network.up) == (name in ("plain", "reports"))


@pytest.mark.heavy
def test_quic_go_uses_and_validates_ecn_and_needs_an_mtu_above_1280() -> None:
    with LocalPool() as pool:
        [found] = measure_paths(catalogue()["go"], "client", pool, lambda _: None)
    assert (found.ect, found.reports) == ("ect0", True)
    assert {one.verdict for field, one in checks(found) if field in ("bleach", "swap")} == {"passed"}
    assert found.reaction
    assert found.reaction.keeps < 0.8
    assert found.small
    assert found.small.too_large
