"""Spans, courses and wires, as functions of numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from h123.causes.cause import CAUSES, LIMIT, NUMBER, RATE, UNATTRIBUTED
from h123.causes.connections.bottleneck import wire
from h123.causes.intervals import Course
from h123.causes.spans import Spans
from h123.packets.capture import DELIVERED, LOST, PACKET, QUEUE_FULL
from h123.study.networks.network import Bottleneck, Direction

SPANS = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 50)), max_size=30)


@given(SPANS, st.lists(st.integers(0, 1100), min_size=1, max_size=50))
def test_a_union_holds_what_any_of_its_spans_holds(spans: list[tuple[int, int]], times: list[int]) -> None:
    begins, ends = [begin for begin, _ in spans], [begin + length for begin, length in spans]
    held = Spans.union(begins, ends).hold(np.array(times))
    assert held.tolist() == [any(b <= time < e for b, e in zip(begins, ends, strict=True)) for time in times]


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=40), st.integers(-100, 1100), st.integers(0, 1200), st.data()
)
def test_the_parts_of_a_course_sum_up(edges: list[int], begin: int, length: int, data: st.DataObject) -> None:
    chosen = np.array(data.draw(st.lists(st.integers(0, len(CAUSES) - 1), min_size=1001, max_size=1001)), np.int8)
    course = Course.cut(np.array(edges), lambda moments: chosen[moments])
    parts = course.between(begin, begin + length)
    assert parts.sum() == length
    assert (parts >= 0).all()
    moments = np.arange(begin, begin + length)
    told = moments[(moments >= min(edges)) & (moments < max(edges))]
    assert parts[NUMBER[UNATTRIBUTED]] >= length - len(told)


def test_a_course_tells_each_cause_between_its_edges() -> None:
    course = Course.cut(np.array([10, 20, 40]), lambda moments: np.where(moments < 20, NUMBER[RATE], NUMBER[LIMIT]))
    parts = course.between(15, 50)
    assert {cause.name: parts[NUMBER[cause]] for cause in (RATE, LIMIT, UNATTRIBUTED)} == {
        "rate": 5,
        "limit": 20,
        "unattributed": 10,
    }


def _packets(rows: list[tuple[int, int, int]]) -> np.ndarray:  # type: ignore[type-arg]
    table = np.zeros(len(rows), PACKET)
    for place, (at, size, fate) in enumerate(rows):
        table[place]["at_ns"], table[place]["bytes"], table[place]["fate"] = at, size, fate
    return table


def test_packets_are_on_the_wire_one_after_another() -> None:
    # 8 Mbit/s: a byte a microsecond.
    packets = _packets([(0, 1000, DELIVERED), (100, 500, LOST), (200, 900, QUEUE_FULL), (3_000_000, 10, DELIVERED)])
    on = wire(packets, Direction(rate=Bottleneck(bps=8_000_000)))
    assert on.begins.tolist() == [0, 1_000_000, 200, 3_000_000]
    assert on.ends.tolist() == [1_000_000, 1_500_000, 200, 3_010_000]


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(40, 1500)), min_size=1, max_size=60))
def test_the_wire_is_never_shared(rows: list[tuple[int, int]]) -> None:
    packets = _packets([(at, size, DELIVERED) for at, size in sorted(rows)])
    on = wire(packets, Direction(rate=Bottleneck(bps=10_000_000)))
    assert (on.begins >= packets["at_ns"]).all()
    assert (on.begins[1:] >= on.ends[:-1]).all()
    assert (on.ends - on.begins == packets["bytes"].astype(np.int64) * 800).all()
