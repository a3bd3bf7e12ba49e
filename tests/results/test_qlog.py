"""qlog in the shapes in which it is written."""

from pathlib import Path

import pytest

from h123.packets.qlog import ill_formed, packet_events

SEQUENCE = (
    '\x1e{"qlog_version": "0.3", "trace": {"vantage_point": {"type": "server"}}}\n'
    '\x1e{"time": 1, "name": "transport:packet_sent", "data": {}}\n'
    '\x1e{"time": 2, "name": "quic:packet_received", "data": {}}\n'
    '\x1e{"time": 3, "name": "recovery:metrics_updated", "data": {}}\n'
)


def events(tmp_path: Path, text: str) -> int:
    (tmp_path / "a.sqlog").write_text(text)
    return packet_events(tmp_path)


def test_a_sequence(tmp_path: Path) -> None:
    assert events(tmp_path, SEQUENCE) == 2
    assert events(tmp_path, SEQUENCE.replace("\x1e", "")) == 2


def test_a_record_that_is_ill_formed_takes_no_other_with_it(tmp_path: Path) -> None:
    """As ngtcp2 1.11 has it now and then: the end of a record without its beginning."""
    lines = SEQUENCE.splitlines(keepends=True)
    torn = "".join([*lines[:2], '{"frame_type":"padding"}],"header":{}}}\n', *lines[2:]])
    assert events(tmp_path, torn) == 2
    assert ill_formed(tmp_path) == 1
    with pytest.raises(
        ValueError, match="is not qlog"
    ):  # where nothing separates records, nobody knows where one begins
        events(tmp_path, torn.replace("\x1e", ""))
    assert events(tmp_path, SEQUENCE) == 2
    assert ill_formed(tmp_path) == 0


def test_a_document(tmp_path: Path) -> None:
    new = '{"traces": [{"events": [{"name": "transport:packet_sent"}, {"name": "transport:packet_lost"}]}]}'
    old = '{"traces": [{"event_fields": [], "events": [[1, "transport", "packet_received", {}]]}]}'
    assert events(tmp_path, new) == 1
    assert events(tmp_path, old) == 1


def test_files_of_several_connections_and_below(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below/b.qlog").write_text(SEQUENCE)
    assert events(tmp_path, SEQUENCE) == 4


def test_no_files_no_events(tmp_path: Path) -> None:
    assert packet_events(tmp_path) == 0


def test_the_end_may_be_cut_off(tmp_path: Path) -> None:
    assert events(tmp_path, SEQUENCE + '\x1e{"time": 4, "name": "tran') == 2


@pytest.mark.parametrize("text", ["\x1e{half\n" + SEQUENCE, "", "packet_sent"])
def test_what_is_not_json_is_not_qlog(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"a\.sqlog"):
        events(tmp_path, text)
