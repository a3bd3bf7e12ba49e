"""Recordings of links in the formats of public datasets become networks, or are refused for the right reason."""

import json
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.study import Network
from h123.study.networks.recordings.network_import import ImportedNetwork, ImportOptions, import_network

GNET = "Timestamp,State,DL_bitrate,UL_bitrate,PINGAVG,PINGLOSS\n"
NDT = [
    {"TCPInfo": {"ElapsedTime": t, "BytesAcked": t, "BytesSent": t, "BytesRetrans": t / 100, "MinRTT": 24000}}
    for t in (1_000_000, 2_000_000, 3_000_000)
]
NDT_UP = [{"TCPInfo": {**each["TCPInfo"], "BytesReceived": 125_000 * i}} for i, each in enumerate(NDT)]
LENS = "timestamp,rtt,uplink,downlink\n1705744800616897349,0,0,-1\n1705744800626565141,120,72,48\n1705744801,-1,0,0\n"


def iperf(*sums: str, sender: bool = False, **asked: object) -> str:
    """A result at 9 Mbit/s, not counted, and then 4 and 2 Mbit/s; in the second of `sums`, twice that."""
    rows = [(0.0, 9e6, True), (1.0, 4e6, False), (2.0, 2e6, False)]
    intervals = [
        {
            key: {"start": start, "bits_per_second": rate * factor, "omitted": omitted, "sender": sender}
            for factor, key in enumerate(sums, 1)
        }
        for start, rate, omitted in rows
    ]
    test = {"protocol": "TCP", "reverse": 0, **asked}
    return "\n" + json.dumps({"start": {"test_start": test}, "intervals": intervals})


def taken(folder: Path, files: dict[str, str], options: ImportOptions) -> ImportedNetwork:
    for name, text in files.items():
        (folder / name).write_text(text)
    return import_network([folder / name for name in files], "x", options)


def figures(network: Network) -> list[tuple[float | None, float | None, float | None]]:
    """Mbit/s, ms and per cent of `up` and `down`."""
    ways = [way for way in (network.up, network.down) if way]
    return [
        (
            round(way.rate.mean_bps / 1e6, 3) if way.rate else None,
            (way.delay_ns or 0) / 1e6,
            round(way.loss.mean * 100, 2) if way.loss else None,
        )
        for way in ways
    ]


Ends = tuple[float | None, float, float | None]
TAKEN: list[tuple[str, dict[str, str], Ends, Ends]] = [
    ("mahimahi", {"a.trace": "0\n5\n10\n"}, (3.6, 0, None), (3.6, 0, None)),
    ("mahimahi, DOS", {"a.pps": "1\r\n2\r\n"}, (12, 0, None), (12, 0, None)),
    ("mahimahi, two", {"LTE.up": "10\n", "LTE.down": "1\n"}, (1.2, 0, None), (12, 0, None)),
    ("mahimahi, any order", {"downlink-1": "1\n", "uplink-1": "10\n"}, (1.2, 0, None), (12, 0, None)),
    ("cellreplay, light", {"up-light": "0 20 5 10\n100 30 10\n200 40\n"}, (1.6, 30, None), (1.6, 30, None)),
    (
        "cellreplay, heavy",
        {"up-light": "0 20 5\n", "down-light": "0 30 5\n", "up-heavy": "50\n100\n200\n", "down-heavy": "100\n200\n"},
        (0.18, 20, None),
        (0.12, 30, None),
    ),
    (
        "plain csv",
        {"a.csv": "time_s,rate_mbit_s,delay_ms,loss_percent\n0,4,10,0\n1,2,20,1\n"},
        (3, 15, 0.5),
        (3, 15, 0.5),
    ),
    ("semicolons", {"a.csv": "time_ms;rate_kbps\n0;4000\n1000;2000\n"}, (3, 0, None), (3, 0, None)),
    ("tabs", {"a.tsv": "time_s\tdown_mbps\tup_mbps\n0\t4\t1\n1\t2\t1\n"}, (1, 0, None), (3, 0, None)),
    ("comments", {"a.csv": "# CC0\n\ntime_s,rtt_ms\n0,40\n1,20\n"}, (None, 15, None), (None, 15, None)),
    (
        "dates",
        {"a.csv": "time,down_bps\n2024-05-17T10:00:00Z,4e6\n2024-05-17T10:00:01Z,2e6\n"},
        (3, 0, None),
        (3, 0, None),
    ),
    ("epochs", {"a.csv": "time,rate_bps\n1705744800616,4e6\n1705744801616,2e6\n"}, (3, 0, None), (3, 0, None)),
    ("missing values", {"a.csv": "time_s,rate_mbit\n0,-\n1,4\n2,\n"}, (4, 0, None), (4, 0, None)),
    ("spaces", {"a": "time_s  rate_mbit\n0 4\n1  2 \n"}, (3, 0, None), (3, 0, None)),
    ("two rows in a step, then none", {"a": "time_s,rate_mbit\n0,1\n.05,3\n1,3\n"}, (2.933, 0, None), (2.933, 0, None)),
    ("finer than a step", {"a.csv": "time_s,rate_mbit\n0,1\n0.05,3\n0.1,2\n"}, (2, 0, None), (2, 0, None)),
    (
        "G-NetTrack (Irish 5G)",
        {"a.csv": GNET + "2019.12.16_13.40.04,D,4000,100,60,2\n2019.12.16_13.40.05,I,0,0,-,-\n"},
        (None, 30, 1),
        (4, 30, 1),
    ),
    (
        "WetLinks, iperf",
        {"a.csv": "timestamp_start,download,upload\n2023-10-01T00:00:00+00:00,2e8,\n2023-10-01T00:03:00+00:00,,2e7\n"},
        (20, 0, None),
        (200, 0, None),
    ),
    (
        "WetLinks, ping",
        {"a.csv": "timestamp_start,packet_loss,ping_avg\n2023-10-01T00:00:00,4.0,60\n2023-10-01T00:03:00,0,40\n"},
        (None, 25, 1),
        (None, 25, 1),
    ),
    ("LENS, irtt", {"a.csv": LENS}, (None, 72, 16.67), (None, 48, 27.78)),
    ("LENS, ping", {"a.csv": "timestamp,rtt\n1705744800.5,91\n1705744801.5,-1\n"}, (None, 45.5, 25), (None, 45.5, 25)),
    ("NDT7, down", {"a.json": json.dumps({"Download": {"ServerMeasurements": NDT}})}, (8, 12, 1), (8, 12, 1)),
    (
        "NDT7, both",
        {"a.json": json.dumps({"Download": {"ServerMeasurements": NDT}, "Upload": {"ServerMeasurements": NDT_UP}})},
        (1, 12, None),
        (8, 12, 1),
    ),
    ("iperf3, up", {"a.json": iperf("sum")}, (3, 0, None), (3, 0, None)),
    ("iperf3, -R", {"a.json": iperf("sum", reverse=1, protocol="UDP")}, (3, 0, None), (3, 0, None)),
    ("iperf3, --bidir", {"a.json": iperf("sum", "sum_bidir_reverse")}, (3, 0, None), (6, 0, None)),
]


@pytest.mark.parametrize(("files", "up", "down"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_recordings_become_networks(tmp_path: Path, files: dict[str, str], up: Ends, down: Ends) -> None:
    heavy = len(files) > 2
    imported = taken(tmp_path, files, ImportOptions(load="heavy" if heavy else "light", licence="CC0-1.0"))
    assert figures(imported.network) == [up, down]
    assert "# Licence: CC0-1.0" in imported.files["x.yaml"]
    assert f"# Source: {next(iter(files))}" in imported.files["x.yaml"]
    assert ("No delay was recorded" in " ".join(imported.notes)) == (up[1] == 0)
    assert ("No losses were recorded" in " ".join(imported.notes)) == (None in (up[2], down[2]))


REFUSED = [
    ("empty", {"a": ""}, "a: the file is empty"),
    ("trace backwards", {"a": "5\n4\n"}, "a:2: 4 comes after 5; times must not decrease"),
    ("trace with a word", {"a": "5\nsix\n"}, "a:2: 'six' is not a number of milliseconds"),
    ("cellreplay with a word", {"a": "0 20 5\n100 x\n"}, "a:2: '100 x' is not a time, a delay and opportunities"),
    ("cellreplay backwards", {"a": "100 20 5\n0 20\n"}, "a:2: 0 s comes after 0.1 s"),
    (
        "M-Lab, one row a test",
        {"a": "date,a.MeanThroughputMbps,a.MinRTT\n2024-01-01,93,12\n"},
        "a:1: no column is a time",
    ),
    ("no line of names", {"a": "0.5\t4\n1.5\t2\n"}, "a:1: the table has no line of names"),
    ("two columns of whole numbers", {"a": "0 20\n100 30\n"}, "a:1: the table has no line of names"),
    (
        "text",
        {"a": "A file about traces\nand\n"},
        "a:1: 'A file about traces' is neither a number nor a row of a table",
    ),
    ("no time, no unit", {"a": "bitrate,x\n1,2\n"}, "a:1: no column is a time"),
    ("time of day", {"a": "time,rtt_ms\n11:30:45,2\n"}, "a:2: time: '11:30:45' is neither a number nor a date"),
    ("long field", {"a": 'time,x\n1,2\n2,"a\nb"\n'}, "a:3: a quoted field goes on over the end of the line"),
    ("no known column", {"a": "time,x\n0,1\n"}, "a:1: no column is known as a rate"),
    ("no unit", {"a": "time,Throughput\n0,1\n"}, "a:1: the unit of the column 'Throughput' is unknown"),
    ("two of a name", {"a": "time,x,x\n0,1,1\n"}, "a:1: two columns have the name 'x'"),
    ("time backwards", {"a": "time_s,rate_bps\n1,1\n0,1\n"}, "a:3: 0 s comes after 1 s"),
    ("no time", {"a": "time_s,rate_bps\n0,1\n,1\n"}, "a:3: the time is missing"),
    ("negative rate", {"a": "time_s,rate_bps\n0,1\n1,-1\n"}, "a:3: rate_bps is '-1', which no link can have"),
    ("loss above 1", {"a": "time_s,loss_percent\n0,1\n1,200\n"}, "a:3: loss_percent is '200'"),
    ("no values", {"a": "time_s,rate_bps\n0,\n1,-\n"}, "no values"),
    ("one row", {"a": "time_s,rate_bps\n0,1\n"}, "at least two rows"),
    ("short row", {"a": "time_s,rate_bps\n0\n"}, "a:2: 1 fields, where the first line has 2"),
    ("not JSON", {"a": '{"Download":\n'}, "a:2: not JSON"),
    ("other JSON", {"a": '{"intervals": []}'}, "it has no ServerMeasurements"),
    ("no finite number", {"a": '{"intervals": [NaN]}'}, "a: not JSON: 'NaN' is not a finite number"),
    ("iperf3 sends UDP", {"a": iperf("sum", sender=True, protocol="UDP")}, "a: iperf3 counted what it sent over UDP"),
    ("part of iperf3", {"a": '{"intervals": [{}]}'}, "a: iperf3's result lacks \"'start'\""),
    ("NDT without TCP", {"a": '{"Download": {"ServerMeasurements": [{}, {}, {}]}}'}, "a measurement lacks"),
    ("direction unknown", {"one": "1\n", "two": "2\n"}, "one: the direction is unknown"),
    ("a direction twice", {"up.1": "1\n", "up.2": "2\n"}, "up.2: another Mahimahi trace says what happens up"),
]


@pytest.mark.parametrize(("files", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_others_are_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as error:
        taken(tmp_path, files, ImportOptions())
    assert message in error.value.message


def test_the_user_describes_columns(tmp_path: Path) -> None:
    table = {"a.csv": "seq,Throughput,lat\n0,4,20\n1,2,20\n"}
    options = ImportOptions(columns=["time=seq:s", "down=Throughput:Mbit/s", "delay=lat:ms"])
    assert figures(taken(tmp_path, table, options).network) == [(None, 20, None), (3, 20, None)]
    pensieve = ImportOptions(columns=["time=1:s", "rate=2:Mbit/s"])
    for text in ("0 4\n1 2\n", "0.0\t4\n1.0\t2\n", "0,4\n1,2\n"):
        assert figures(taken(tmp_path, {"trace_1": text}, pensieve).network) == [(3, 0, None)] * 2
    phone = {"a.csv": GNET + "2019.12.16_13.40.04,D,4000,100,60,2\n2019.12.16_13.40.05,D,4000,100,-,-\n"}
    both = taken(tmp_path, phone, ImportOptions(columns=["up=UL_bitrate:kbit/s"]))
    assert figures(both.network) == [(0.1, 30, 1), (4, 30, 1)]
    for wrong in ("time", "time=seq:Mbit/s", "speed=seq:s"):
        with pytest.raises(UserError, match="write KIND=NAME:UNIT"):
            taken(tmp_path, table, ImportOptions(columns=[wrong]))
    with pytest.raises(UserError, match=r"a\.csv:1: there is no column 'sq', only seq"):
        taken(tmp_path, table, ImportOptions(columns=["time=sq:s"]))
