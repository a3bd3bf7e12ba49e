"""What a stack says of its connections, from qlog in the shapes in which stacks write it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from h123.packets.qlog import QLOG_FOLDER
from h123.packets.stack_log import FlowControlStall, StackLog, read_stack_log, read_stack_logs

MS = 1_000_000


def _frames(*frames: Any) -> dict[str, Any]:
    return {"frames": list(frames)}


STREAM = {"frame_type": "stream_data_blocked", "stream_id": 0, "limit": 1000}
GRANTED = {"frame_type": "max_stream_data", "stream_id": 0, "maximum": 2000}
EVENTS: list[tuple[float, str, Any]] = [
    (0.5, "transport:packet_received", _frames({"frame_type": "crypto"})),
    (1, "transport:packet_sent", _frames({"frame_type": "crypto"})),
    (2, "recovery:metrics_updated", {"congestion_window": 12_000, "bytes_in_flight": 1200}),
    (3, "recovery:metrics_updated", {"smoothed_rtt": 20.5}),
    (3.5, "recovery:metrics_updated", {"pto_count": 1}),
    (4, "transport:packet_sent", _frames(STREAM)),
    (5, "transport:packet_sent", _frames(STREAM, {"frame_type": "padding"})),
    (6, "recovery:packet_lost", {"trigger": "reordering_threshold"}),
    (7, "recovery:packet_lost", {"is_mtu_probe_packet": True}),
    (8, "transport:packet_received", _frames({"frame_type": "data_blocked", "limit": 9}, GRANTED)),
    (9, "transport:packet_received", _frames(GRANTED)),
    (10, "transport:packet_sent", _frames({"frame_type": "data_blocked", "limit": 9})),
]


def _sequence(prefix: str = "\x1e") -> str:
    head = {"qlog_version": "0.3", "trace": {"vantage_point": {"type": "server"}}}
    records = [head, *({"time": time, "name": name, "data": data} for time, name, data in EVENTS)]
    return "".join(f"{prefix}{json.dumps(record)}\n" for record in records)


def _document() -> str:
    events = [{"time": time, "name": name.replace("transport", "quic"), "data": data} for time, name, data in EVENTS]
    return json.dumps({"traces": [{"events": events}]}, indent=1)


def _old() -> str:
    """Events are lists, of microseconds."""
    events = [[round(time * 1000), *name.split(":"), data] for time, name, data in EVENTS]
    trace = {"configuration": {"time_units": "us"}, "event_fields": ["relative_time", "CATEGORY", "EVENT", "DATA"]}
    return json.dumps({"traces": [trace | {"events": events}]})


@pytest.mark.parametrize("text", [_sequence(), _sequence(""), _document(), _old()], ids=["rs", "lines", "doc", "old"])
def test_all_shapes_say_the_same(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.sqlog").write_text(text)
    log = read_stack_log(tmp_path / "a.sqlog")
    assert (log.sendings / MS).tolist() == [1, 4, 5, 10]
    assert (log.losses / MS).tolist() == [6]
    assert (log.at / MS).tolist() == [2, 3]
    assert log.window.tolist() == [12_000, 12_000]
    assert log.in_flight.tolist() == [1200, 1200]
    assert np.isnan(log.round_trip[0])
    assert log.round_trip[1] == 20.5 * MS
    # The first grant came in the packet that also told of the client's own limit; that one holds to the log's end.
    assert log.stalls == (
        FlowControlStall(4 * MS, 8 * MS, stream=True, own=True),
        FlowControlStall(8 * MS, 10 * MS, stream=False, own=False),
        FlowControlStall(10 * MS, 10 * MS, stream=False, own=True),
    )
    later = log.later(5)
    assert (later.sendings - log.sendings).tolist() == [5] * 4
    assert later.stalls[0].end == 8 * MS + 5


def test_what_is_no_qlog_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = tmp_path / QLOG_FOLDER
    folder.mkdir()
    (folder / "a.sqlog").write_text(_sequence())
    (folder / "b.sqlog").write_text("no qlog")
    (folder / "c.sqlog").write_text(_sequence().replace('"congestion_window": 12000', '"congestion_window": "many"'))
    (folder / "d.sqlog").write_text(_sequence().split("\n")[0])  # a connection that came to nothing
    found = read_stack_logs(tmp_path)
    assert [len(log.sendings) for log in found.logs] == [4]
    assert [text.split(" ")[0] for text in found.faults] == ["b.sqlog", "c.sqlog"]
    assert read_stack_logs(tmp_path / "elsewhere").logs == []


@pytest.mark.parametrize(
    "line",
    [
        '{"traces": 5}',
        '{"traces": [{"events": 5}, 7]}',
        '{"traces": [{"events": [[1], [2, "transport"]], "event_fields": 3, "configuration": 4}]}',
        '{"time": "soon", "name": "transport:packet_sent"}',
        '{"time": 1e999, "name": "transport:packet_sent"}',
        '{"time": 1e200, "name": "transport:packet_sent"}',
        '{"time": 1, "name": "transport:packet_sent", "data": [1]}',
        '{"time": 1, "name": "transport:packet_sent", "data": {"frames": 5}}',
        '{"time": 1, "name": "transport:packet_sent", "data": {"frames": [5]}}',
        '{"time": [1], "name": ["transport:packet_sent"]}',
        "[" * 100_000,
    ],
)
def test_whatever_a_file_holds_it_is_read_or_named(tmp_path: Path, line: str) -> None:
    (tmp_path / QLOG_FOLDER).mkdir()
    (tmp_path / QLOG_FOLDER / "a.sqlog").write_text(line)
    found = read_stack_logs(tmp_path)
    assert not found.logs
    assert all(why.startswith("a.sqlog is not qlog") for why in found.faults)


def test_a_log_without_metrics_has_no_looks(tmp_path: Path) -> None:
    (tmp_path / "a.sqlog").write_text('{"time": 1, "name": "quic:packet_sent", "data": {}}\n')
    log: StackLog = read_stack_log(tmp_path / "a.sqlog")
    assert (len(log.sendings), len(log.at), len(log.window), log.stalls) == (1, 0, 0, ())
