"""What a server made of a client that moved is told from packets."""

import numpy as np
import pytest

from h123.packets.capture import BLOCKED, DELIVERED, DOWN, PACKET, TCP, UDP, UP, Packets
from h123.verification.migration import MOVE_NS, MoveResult, after_move, moved_words, networks

MS = 1_000_000
OLD, NEW = 40_000, 50_000


def packets(*rows: tuple[int, int, int, int], fate: int = DELIVERED) -> Packets:
    """Of way, when it came in ms, the client's port, payload; each takes 20 ms."""
    table = np.zeros(len(rows), PACKET)
    for place, (way, at, port, payload) in enumerate(rows):
        table[place]["way"], table[place]["at_ns"], table[place]["payload"] = way, at * MS, payload
        table[place]["left_ns"] = (at + 20) * MS if fate == DELIVERED else 0
        table[place]["source" if way == UP else "destination"] = port
    table["protocol"], table["fate"] = UDP, fate
    return table


BEFORE = packets((UP, 900, OLD, 40), (DOWN, 950, OLD, 1200), (UP, 999, OLD, 40))
ASKED = packets((UP, 1010, NEW, 40))


def test_one_that_follows_answers_at_the_new_place_and_bodies_flow_there() -> None:
    lost = packets((DOWN, 1005, OLD, 1200), fate=BLOCKED)
    answers = packets((DOWN, 1031, NEW, 50), (DOWN, 1071, NEW, 1200))
    under_way = packets((UP, 1900, NEW, 40), (DOWN, 1900, NEW, 1200))  # when the trial ended
    under_way["left_ns"] = 0
    found = after_move(np.concatenate([BEFORE, lost, ASKED, answers, under_way]), 1000 * MS)
    assert found == pytest.approx((0.001, 0.091))


def test_one_that_does_not_follow_sends_nothing_there() -> None:
    assert after_move(np.concatenate([BEFORE, ASKED, packets((DOWN, 1200, OLD, 1200))]), 1000 * MS) == (None, None)


def test_one_that_only_says_no_answers_but_nothing_flows() -> None:
    answered, flowed = after_move(np.concatenate([BEFORE, ASKED, packets((DOWN, 1030, NEW, 43))]), 1000 * MS)
    assert (answered, flowed) == (0.0, None)


def test_over_tcp_a_connection_made_anew_is_where_bodies_flow_again() -> None:
    reset = packets((UP, 1010, NEW, 40), (DOWN, 1030, NEW, 0))
    anew = packets((UP, 1060, NEW + 1, 0), (DOWN, 1201, NEW + 1, 1200))
    moved = np.concatenate([BEFORE, reset, anew])
    assert after_move(moved, 1000 * MS, TCP) == (None, None)  # all of it is UDP
    moved["protocol"] = TCP
    assert after_move(moved, 1000 * MS, TCP) == pytest.approx((0.0, 0.221))


def test_who_never_moved_tells_nothing() -> None:
    assert after_move(BEFORE, 1000 * MS) == (None, None)
    lost = packets((UP, 1010, NEW, 40), fate=BLOCKED)
    assert after_move(np.concatenate([BEFORE, lost]), 1000 * MS) == (None, None)


def test_the_networks_are_what_the_words_say() -> None:
    assert {new: network.describe_moves() for new, network in networks().items()} == {
        "port": f"client seen from a new port at {MOVE_NS / 1e9:g} s",
        "address": f"client seen from a new address at {MOVE_NS / 1e9:g} s",
    }
    survived = MoveResult(clock="virtual", new="port", survived=True, answered=0.0, flowed=0.0612)
    assert moved_words(survived) == "a new port: survived, answered there after 0 µs, a body flowed again after 61.2 ms"
    gone = MoveResult(clock="wall", new="address")
    assert moved_words(gone) == "a new address: not survived, never answered there, no body flowed again"
    assert moved_words(MoveResult(clock="wall", new="port", unknown="it fell")) == "a new port: not known, it fell"
