"""Records of links are read or refused with file and line, and replayed from another place in each block."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.analysis.audits.path import capacity_bits, direction, round_trip_floor_ns
from h123.base.errors import UserError
from h123.study import Network, load_network, replayed, unrolled
from h123.study.networks.record import LinkRecord
from h123.study.networks.replay import _opportunities
from study.samples import write

HEAD = "h123: network/1\nname: odd\ntitle: for a test\n"
ROWS = "# made up\ntime_s,rate_mbit_s,delay_ms,loss_percent\n10,4,20,0\n11,2,30,1\n\n12,0,30,1\n"
S, MS = 10**9, 10**6


def read(folder: Path, record: str, body: str = "both: {record: r.csv, queue: 100kB}") -> Network:
    write(folder, record, "r.csv")
    return load_network(str(write(folder, HEAD + body + "\n", "odd.yaml")))


def test_a_record_becomes_changes_from_where_the_block_starts(tmp_path: Path) -> None:
    network = read(tmp_path, ROWS)
    assert Network.from_resolved(json.loads(json.dumps(network.resolved()))) == network
    assert network.down
    assert network.down.rate
    assert (network.down.rate.bps, network.round_trip_ns) == (2_000_000, 53_400_000)
    assert network.takes_time
    assert network.describe()[0] == "26.7 ms delay, 2 Mbit/s, 0.667 % loss, on average, as recorded"
    link = replayed(network, 0.5, 2 * S).link()
    assert link["up"] == link["down"]
    # 1.5 s into 3 s; a rate of 0 is one that no packet lives to see the end of.
    assert link["down"]["changes"] == [
        {"at_ns": 0, "rate": {"bps": 2_000_000}, "delay_ns": 30 * MS, "loss": {"random": 0.01}},
        {"at_ns": S // 2, "rate": {"bps": 1}},
        {"at_ns": 3 * S // 2, "rate": {"bps": 4_000_000}, "delay_ns": 20 * MS, "loss": {"random": 0.0}},
    ]
    whole = unrolled(network)
    assert (round_trip_floor_ns(whole), capacity_bits(direction(whole, "up"), 1)) == (40 * MS, 4e6)
    assert replayed(whole, 0.7, S) == whole


def test_a_record_of_some_columns_leaves_the_others_to_the_network(tmp_path: Path) -> None:
    body = "up: {delay: 5ms}\ndown: {record: r.csv, rate: 9Mbit/s, queue: 9p, loss: 2%, jitter: {spread: 3ms}}"
    network = replayed(read(tmp_path, "time_s;delay_ms\n0;4\n2;8\n", body), 0.75, S)
    assert network.up
    assert network.down
    assert network.up.changes is None
    assert (network.down.rate, network.down.loss) != (None, None)
    (change,) = network.down.changes or []
    assert (change.at_ns, change.delay_ns, change.rate, change.loss) == (0, 8 * MS, None, None)


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=20).map(sorted).filter(lambda times: times[-1] > 0),
    st.integers(0, 10**9),
    st.integers(1, 200),
)
def test_a_trace_goes_on_with_each_opportunity_after_the_start(times: list[int], offset: int, until: int) -> None:
    period = times[-1]
    record = LinkRecord(period_ns=period * MS, at_ns=[0], trace_ms=times)
    offset %= period * MS
    found = list[int]()
    for change in _opportunities(record, offset, until * MS):
        assert change.rate
        trace, begin = change.rate.trace_ms or [], change.at_ns // MS
        found = [time for time in found if time <= begin] + [
            begin + lap * trace[-1] + time for lap in range(until // trace[-1] + 1) for time in trace
        ]
    start = offset // MS
    laps = (start + until) // period + 1
    wanted = [lap * period + time - start for lap in range(laps) for time in times if lap * period + time > start]
    assert [t for t in found if t < until] == [t for t in wanted if t < until]


BAD = [
    ("time_s,rate_mbit_s\n0,1\n", "r.csv: a record has from 2 to"),
    ("rate_mbit_s,delay_ms\n0,1\n1,1\n", "r.csv:1: a record has the column time_s"),
    ("time_s\n0\n1\n", "r.csv:1: a record has the column time_s, and at least one"),
    ("time_s,speed\n0,1\n1,1\n", "r.csv:1: unknown column 'speed'"),
    ("time_s,delay_ms,delay_ms\n0,1,1\n", "r.csv:1: two columns have the name 'delay_ms'"),
    ("time_s,rate_mbit_s\n0,1\n1\n", "r.csv:3: 1 fields, where the first line has 2"),
    ("# c\ntime_s,rate_mbit_s\n0,1\n0,1\n", "r.csv:4: 0 s comes after 0 s; times must increase"),
    ("time_s,rate_mbit_s\n0,1\n1,x\n", "r.csv:3: rate_mbit_s: 'x' is not a number"),
    ("time_s,rate_mbit_s\n0,1\n1,inf\n", "r.csv:3: rate_mbit_s: 'inf' is not a number"),
    ("time_s,rate_mbit_s\n0,1\n1,-2\n", "r.csv:3: rate_mbit_s is '-2'; it must be from 0 to 100000"),
    ("time_s,loss_percent\n0,1\n1,101\n", "r.csv:3: loss_percent is '101'; it must be from 0 to 100"),
    ("time_s,delay_ms\n0,1\n1,\n", "r.csv:3: delay_ms is ''"),
    ('time_s,delay_ms\n0,"1\n1,2\n', "r.csv"),
    ("1\n2\nx\n", "r.csv:3: 'x' is not a number of milliseconds"),
    ("", "r.csv: the file is empty"),
]


@pytest.mark.parametrize(("record", "message"), BAD, ids=[message for _, message in BAD])
def test_a_malformed_record_is_refused_with_its_line(tmp_path: Path, record: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        read(tmp_path, record)
    assert "odd.yaml:4: both.record: " in error.value.message
    assert message in error.value.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("both: {record: r.csv, queue: 9p, rate: 1Mbit/s}", "the record has rates"),
        ("both: {record: r.csv, queue: 9p, delay: 1ms}", "the record has delays"),
        ("both: {record: r.csv, queue: 9p, loss: 1%}", "the record has losses"),
        ("both: {record: r.csv, queue: 9p, changes: [{at: 1s, udp: drop}]}", "a record says itself what changes"),
        ("both: {record: r.csv, queue: 9p, jitter: {spread: 21ms}}", "the jitter is larger than `delay`"),
        ("both: {record: r.csv}", "a rate needs a `queue`"),
        ("both: {record: away.csv, queue: 9p}", "away.csv: cannot be read"),
    ],
)
def test_a_record_excludes_what_it_contains(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(tmp_path, ROWS, body)
