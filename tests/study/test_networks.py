"""Networks are read as meant, in the lab's units, or refused with file and line."""

import json
import lzma
import math
import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

from h123.base.errors import UserError
from h123.base.files.textfile import read_packed_text
from h123.base.paths import lab_binary, project_root
from h123.study import Network, list_networks, load_network
from study.samples import write

HEAD = "h123: network/1\nname: odd\ntitle: for a test\n"


def read(folder: Path, body: str) -> Network:
    return load_network(str(write(folder, HEAD + body, "odd.yaml")))


FIELDS: list[tuple[str, dict[str, Any]]] = [
    ("delay: 15ms", {"delay_ns": 15_000_000}),
    ("loss: 0.5%", {"loss": {"random": 0.005}}),
    ("loss: 0.02", {"loss": {"random": 0.02}}),
    ("loss: {packets: [17, 3, 3]}", {"loss": {"packets": [3, 17]}}),
    (
        "loss: {bad_after: 1%, good_after: 20%, loss_bad: 0.5}",
        {"loss": {"gilbert_elliott": {"p": 0.01, "r": 0.2, "loss_good": 0.0, "loss_bad": 0.5}}},
    ),
    ("rate: 20Mbit/s\n  queue: 100kB", {"rate": {"bps": 20_000_000}, "queue": {"bytes": 100_000}}),
    ("rate: 1Gbit/s\n  queue: 64p", {"rate": {"bps": 10**9}, "queue": {"packets": 64}}),
    ("rate: 1kbit/s\n  queue: 50ms", {"rate": {"bps": 1000}, "queue": {"ns": 50_000_000}}),
    (
        "delay: 5ms\n  jitter: {spread: 5ms, distribution: normal, keep_order: false}",
        {"delay_ns": 5_000_000, "jitter": {"spread_ns": 5_000_000, "distribution": "normal", "keep_order": False}},
    ),
    ("blackouts: [[1s, 1.5s]]", {"blackouts": [{"from_ns": 10**9, "to_ns": 1_500_000_000}]}),
    ("duplicate: 1%", {"duplicate": 0.01}),
    (
        "delay: 15ms\n  reorder: {share: 1%, ahead: 10ms}",
        {"delay_ns": 15_000_000, "reorder": {"share": 0.01, "ahead_ns": 10_000_000}},
    ),
    ("udp: reject", {"udp": "reject"}),
    (
        "queue: 9p\n  changes: [{at: 5s, rate: 2Mbit/s, delay: 50ms, loss: 1%, udp: drop}]",
        {
            "queue": {"packets": 9},
            "changes": [
                {
                    "at_ns": 5 * 10**9,
                    "rate": {"bps": 2_000_000},
                    "delay_ns": 50_000_000,
                    "loss": {"random": 0.01},
                    "udp": "drop",
                }
            ],
        },
    ),
]


@pytest.mark.parametrize(("written", "expected"), FIELDS, ids=[written for written, _ in FIELDS])
def test_every_field_in_the_labs_words(tmp_path: Path, written: str, expected: dict[str, Any]) -> None:
    network = read(tmp_path, f"both:\n  {written}\n")
    direction = {"delay_ns": 0, **expected}
    assert network.link() == {"kind": "emulated", "up": direction, "down": direction}
    assert Network.from_resolved(network.resolved()) == network


def test_cross_traffic_in_the_labs_words(tmp_path: Path) -> None:
    written = (
        "both: {delay: 1ms, rate: 10Mbit/s, queue: 50kB}\ncross: {up: {udp: 3Mbit/s}, down: {tcp: 4}, ahead: 2s}\n"
    )
    network = read(tmp_path, written)
    said = {"up": {"udp": 3_000_000}, "down": {"tcp": 4}, "ahead_ns": 2_000_000_000}
    assert network.link()["cross"] == said
    assert Network.from_resolved(network.resolved()) == network
    assert network.describe_cross() == "cross traffic up: 3 Mbit/s of UDP, cross traffic down: 4 bulk TCP connections"
    assert "cross" not in read(tmp_path, "both: {delay: 1ms}\n").link()


def test_blocks_meet_cross_traffic_at_different_moments(tmp_path: Path) -> None:
    network = read(
        tmp_path,
        "both: {delay: 1ms, rate: 10Mbit/s, queue: 50kB}\ncross: {down: {tcp: 4}, ahead: 2s, spread: 4s}\n",
    )
    assert Network.from_resolved(network.resolved()) == network
    begun = [network.at_moment(moment).link()["cross"]["ahead_ns"] for moment in (0.0, 0.25, 1.0)]
    assert begun == [2_000_000_000, 3_000_000_000, 6_000_000_000]
    assert "spread_ns" not in network.link()["cross"]
    other = read(tmp_path, "both: {delay: 1ms}\n")
    assert other.at_moment(0.5) == other


def test_a_client_moves_in_the_labs_words(tmp_path: Path) -> None:
    written = "both: {delay: 1ms}\nmoves: [{at: 2s, new: port}, {at: 4s, new: address, overlap: 200ms}]\n"
    network = read(tmp_path, written)
    assert network.link()["moves"] == [
        {"at_ns": 2 * 10**9, "new": "port", "overlap_ns": 0},
        {"at_ns": 4 * 10**9, "new": "address", "overlap_ns": 200_000_000},
    ]
    assert Network.from_resolved(network.resolved()) == network
    port, address = network.describe_moves().split(", ")
    assert port == "client seen from a new port at 2 s"
    assert address == "client seen from a new address at 4 s (the old one still reached for 0.2 s)"
    assert read(tmp_path, "both: {delay: 1ms}\n").describe_moves() == ""


def test_directions_apart_and_unshaped(tmp_path: Path) -> None:
    network = read(tmp_path, "up: {delay: 1ms}\ndown: {delay: 2ms}\n")
    assert network.link() == {"kind": "emulated", "up": {"delay_ns": 1_000_000}, "down": {"delay_ns": 2_000_000}}
    assert network.round_trip_ns == 3_000_000
    assert read(tmp_path, "unshaped: true\n").link() == {"kind": "veth"}


BAD = [
    ("both:\n  delay: -15ms", 5, ["both.delay", "negative"]),
    ("both:\n  delay: 15", 5, ["both.delay", "15 is not valid"]),
    ("both:\n  dealy: 15ms", 5, ["unknown key 'dealy'", "did you mean delay?"]),
    ("both:\n  rate: 0Mbit/s\n  queue: 1kB", 5, ["both.rate: '0Mbit/s' is too small"]),
    ("both:\n  rate: 20Mbps\n  queue: 1kB", 5, ["'20Mbps' is not valid", "Mbit/s"]),
    ("both:\n  rate: 20Mbit/s", 4, ["a rate needs a `queue`"]),
    ("both:\n  queue: 100kB", 4, ["`queue` has no effect"]),
    ("both:\n  rate: 1Mbit/s\n  queue: 0p", 6, ["cannot hold anything"]),
    ("both:\n  rate: 1Mbit/s\n  queue: -5ms", 6, ["negative"]),
    ("both:\n  loss: 120%", 5, ["both.loss: ", "outside 0 to 1"]),
    ("both:\n  loss:\n    bad_after: 1%\n    good_after: 0%", 7, ["both.loss.good_after: must be greater than 0"]),
    ("both:\n  loss:\n    bad_afer: 1%", 6, ["unknown key 'bad_afer'", "did you mean bad_after?"]),
    ("both:\n  loss: {packets: [-1]}", 5, ["both.loss.packets.0"]),
    ("both:\n  udp: block", 5, ["'block' is not allowed", "pass, drop, reject"]),
    ("both:\n  jitter: {spread: 1ms, keep_order: 3}", 5, ["keep_order: must be true or false"]),
    ("both:\n  blackouts: [[2s, 1s]]", 5, ["a blackout must end after it starts"]),
    ("both:\n  changes: [{at: 5s}]", 5, ["changes nothing"]),
    ("both:\n  changes: [{at: 5s, udp: drop}, {at: 4s, udp: pass}]", 5, ["order of time"]),
    ("both:\n  delay: 5ms\n  reorder: {share: 1%, ahead: 10ms}", 4, ["longer than `delay`"]),
    ("both:\n  trace: none.trace\n  queue: 1kB", 5, ["none.trace", "cannot be read"]),
    ("both: {delay: 1ms}\nup: {delay: 1ms}", 1, ["either `both`, or `up` and `down`"]),
    ("up: {delay: 1ms}", 1, ["either `both`, or `up` and `down`"]),
    ("both: {delay: 1ms}\nmoves: [{at: 2s}]", 5, ["moves.0.new"]),
    ("both: {delay: 1ms}\nmoves: [{at: 2s, new: name}]", 5, ["'name' is not allowed", "port, address"]),
    ("both: {delay: 1ms}\nmoves:\n- {at: 2s, new: port}\n- {at: 2s, new: port}", 7, ["in order of time"]),
    ("both: {delay: 1ms}\ncross: {down: {tcp: 1}}", 5, ["needs a queue", "so a `rate` or `trace`"]),
    ("both: {rate: 1Mbit/s, queue: 9kB}\ncross: {}", 5, ["`up`, `down` or both"]),
    ("both: {rate: 1Mbit/s, queue: 9kB}\ncross: {up: {tcp: 1, udp: 1Mbit/s}}", 5, ["either `tcp`"]),
    ("both: {rate: 1Mbit/s, queue: 9kB}\ncross: {up: {tcp: 101}}", 5, ["100"]),
    ("both: {rate: 1Mbit/s, queue: 9kB}\ncross: {up: {tcp: 1}, ahead: 61s}", 5, ["ahead"]),
    (
        "both: {rate: 1Mbit/s, queue: 9kB}\ncross: {up: {tcp: 1}, ahead: 50s, spread: 11s}",
        5,
        ["together must be at most 60 s"],
    ),
    ("unshaped: true\ncross: {up: {tcp: 1}}", 5, ["so a `rate` or `trace`"]),
    ("unshaped: true\nmoves: [{at: 2s, new: port}]", 5, ["clients cannot move", "`both`"]),
    ("unshaped: false", 1, ["either `both`"]),
    ("both: 5ms", 4, ["expected keys with values"]),
]


@pytest.mark.parametrize(("body", "line", "said"), BAD, ids=[body for body, _, _ in BAD])
def test_refused_with_line_and_cure(tmp_path: Path, body: str, line: int, said: list[str]) -> None:
    with pytest.raises(UserError) as refused:
        read(tmp_path, body + "\n")
    assert f"odd.yaml:{line}: " in refused.value.message
    for words in said:
        assert words in refused.value.message


CASES = json.loads(lzma.decompress((Path(__file__).parent / "directions.json.xz").read_bytes()))
"""Directions as people write them, and as the lab reads them."""


def test_the_lab_takes_what_the_plan_takes() -> None:
    """What the lab refuses the plan must refuse, or a campaign could never end."""
    hosts = ["client", "server"]
    ends = {
        end: {"host": host, "address": f"10.1.0.{n}"} for n, (end, host) in enumerate(zip("ab", hosts, strict=True), 1)
    }
    trials = [
        {
            "h123": "trial/1",
            "id": "validated",
            "seed": 1,
            "hosts": hosts,
            "links": [
                {"name": "access", "kind": "emulated", **ends, "up": case["direction"], "down": case["direction"]}
            ],
            "roles": [{"name": "client", "host": "client", "kind": "main", "command": ["/bin/true"]}],
        }
        for case in CASES
    ]
    lines = "".join(f"{json.dumps(trial)}\n" for trial in trials)
    done = subprocess.run([lab_binary(), "validate"], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    for case, refusal in zip(CASES, map(json.loads, done.stdout.splitlines()), strict=True):
        assert (refusal is None) == ("line" not in case or case.get("lab") == "takes"), (case, refusal)


@pytest.mark.parametrize("case", CASES, ids=[case["written"] for case in CASES])
def test_what_the_lab_refuses_is_refused_with_its_line(tmp_path: Path, case: dict[str, Any]) -> None:
    body = "both:\n" + "".join(f"  {line}\n" for line in case["written"].split("\n"))
    if "line" not in case:
        assert read(tmp_path, body).link()["up"] == case["direction"]
        return
    with pytest.raises(UserError) as refused:
        read(tmp_path, body)
    assert f"odd.yaml:{4 + case['line']}: " in refused.value.message
    assert case["says"] in refused.value.message


def test_trace_gives_the_rate(tmp_path: Path) -> None:
    write(tmp_path, "1\n1\n5\n10\n", "four.trace")
    network = read(tmp_path, "both: {trace: four.trace, queue: 10p}\n")
    assert network.down is not None
    assert network.down.rate is not None
    assert network.link()["up"]["rate"] == {"trace_ms": [1, 1, 5, 10], "opportunity_bytes": 1500}
    assert network.down.rate.mean_bps == 4 * 1500 * 8 / 0.010


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        ("", "at least one time of 1 ms"),
        ("0\n0\n", "at least one time of 1 ms"),
        ("3\n2\n", ":2: 2 comes after 3"),
        ("x\n", ":1: "),
        ("1" * 5000 + "\n", ":1: "),
        ("é\n", ":1: 'é' is not a number"),
        ("1\n604800001\n", ":2: 604800001 ms is longer than"),
    ],
)
def test_bad_traces(tmp_path: Path, trace: str, said: str) -> None:
    write(tmp_path, trace, "bad.trace")
    with pytest.raises(UserError) as refused:
        read(tmp_path, "both: {trace: bad.trace, queue: 10p}\n")
    assert said in refused.value.message
    assert "odd.yaml:4" in refused.value.message


def test_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean medium"):
        load_network("mediun")


PROFILES = {
    "5g-driving",
    "5g-static",
    "5g-walking",
    "cable-bloated",
    "cable-pie",
    "dsl",
    "fq-codel-home",
    "hotel",
    "lte",
    "policed",
}
PROFILES |= {"cake-home", "datacentre", "datacentre-drops", "l4s", "starlink", "wifi-contended"}
"""Networks whose queues are those of the access or switch that they stand for."""
SOURCED = {"5g-static", "cable-pie", "cake-home", "fq-codel-home", "l4s"}
"""Profiles without assumptions."""
QUEUES = {"bloated", "cake", "codel", "dualpi2", "fifo", "fq_codel", "fq_pie", "pie", "red"}
"""Networks of the study of queues."""


def test_profiles_say_where_their_figures_are_from() -> None:
    for name in PROFILES:
        text = (project_root() / "networks" / f"{name}.yaml").read_text()
        assert re.search(r"RFC \d+|20[012]\d|home\.yaml|5g-driving\.yaml", text), name
        assert "assumed" in text.lower() or name in SOURCED, name


def test_the_study_of_queues_varies_only_the_queue_to_the_client() -> None:
    fifo = load_network("queue-fifo")
    assert fifo.down
    assert {name for name in list_networks() if name.startswith("queue-")} == {f"queue-{name}" for name in QUEUES}
    for name in QUEUES:
        network = load_network(f"queue-{name}")
        assert network.down
        assert network.down.queue
        assert (network.up, network.cross) == (fifo.up, fifo.cross)
        assert network.down.model_copy(update={"queue": fifo.down.queue}) == fifo.down
        managed = [kind for kind, managed in network.down.queue.disciplines().items() if managed]
        assert [kind.lower().replace("-", "_") for kind in managed] == [name] * (name not in ("bloated", "fifo"))
        assert network.down.queue.marks == (name not in ("bloated", "fifo"))


def test_the_study_of_mtus_varies_only_the_mtu() -> None:
    names = [name for name in list_networks() if name.startswith("mtu-")]
    assert len(names) == 8
    whole = load_network("mtu-1500").down
    for name in names:
        network = load_network(name)
        assert network.up == network.down
        assert network.down
        assert whole
        assert network.down.model_copy(update={"mtu": whole.mtu, "changes": None}) == whole


def test_starlink_is_as_published() -> None:
    network = load_network("starlink")
    assert network.records
    assert network.records.down
    times, delays = network.records.down.at_ns, network.records.down.delay_ns or []
    assert [time // 10**9 for time in times[::2]] == [*range(0, 120, 15)]
    assert {over - after for over, after in zip(delays[::2], delays[1::2], strict=True)} == {15_000_000}


@pytest.mark.parametrize("name", list_networks())
def test_networks_that_come_along(name: str) -> None:
    network = load_network(name)
    assert network.name == name
    limited = [direction for direction in (network.up, network.down) if direction and direction.rate]
    # Both directions, or one of those that say so.
    assert len(limited) == (0 if not network.shaped else 1 if name.startswith("egress-") else 2)
    for direction in limited:
        assert direction.rate
        assert direction.queue
        if name in PROFILES or name.startswith("queue-"):
            continue
        assert direction.queue.bytes
        product = direction.rate.mean_bps / 8 * network.round_trip_ns / 1e9
        assert direction.queue.bytes == pytest.approx(max(product, 100_000), rel=0.01)


@pytest.mark.parametrize(
    ("name", "round_trip_ms", "bps", "loss"), [("medium", 30, 20e6, 0.005), ("poor", 50, 10e6, 0.02)]
)
def test_the_named_delay_is_the_added_round_trip(name: str, round_trip_ms: int, bps: float, loss: float) -> None:
    network = load_network(name)
    assert network.round_trip_ns == round_trip_ms * 1_000_000
    assert network.up == network.down
    assert network.up is not None
    assert network.up.rate is not None
    assert network.up.loss is not None
    assert (network.up.rate.bps, network.up.loss.random) == (bps, loss)


def test_the_trace_is_what_its_comment_says() -> None:
    times, credit = [], 0.0
    for ms in range(1, 10001):
        credit += (7e6 + 5e6 * math.sin(2 * math.pi * ms / 10000)) / 1000 / 8 / 1500
        while credit >= 1:
            times.append(ms)
            credit -= 1
    assert [
        int(line) for line in read_packed_text(project_root() / "networks/varying.trace.xz", 10**6).split()
    ] == times


def test_packed_traces_are_whole_or_refused(tmp_path: Path) -> None:
    packed = lzma.compress(b"1\n2\n")
    for content, said in [(packed, ""), (packed[:-5], "incomplete"), (b"1\n" * 20, "not text that is packed with xz")]:
        file = tmp_path / "a.trace.xz"
        file.write_bytes(content)
        if not said:
            assert read_packed_text(file, 100) == "1\n2\n"
            continue
        with pytest.raises(UserError, match=said):
            read_packed_text(file, 100)
    file.write_bytes(lzma.compress(b"1" * 1000))
    with pytest.raises(UserError, match="larger than 999 bytes"):
        read_packed_text(file, 999)


def test_records_are_those_that_the_tool_generates() -> None:
    networks = project_root() / "networks"
    made = runpy.run_path(str(project_root() / "tools/network_records.py"))["records"]()
    assert {path.stem: path.read_text() for path in networks.glob("*.csv")} == made
