"""What the lab has left becomes tables that take little room, and are read as they were."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents import put
from h123.base.errors import UserError
from h123.documents.trial_files import TrialFile
from h123.packets import tabulate_evidence
from h123.packets.capture import LOST, PACKET, Packets, read_packets
from h123.packets.frames import FRAME, KEYS, FrameKind, read_frames
from h123.packets.tcp_account import ROW, read_tcp_account

BAR_BYTES = 20
"""That a packet may take on the disk."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A trial's, of two hosts."""
    content = {"h123": "trial/1", "hosts": ["client", "server"], "links": [{"name": "access"}]}
    put(tmp_path / "trial.json", TrialFile, content)
    return tmp_path


def transfer(count: int, seed: int) -> Packets:
    """A download by TCP with acknowledgements in between, delays that vary and one packet in fifty lost."""
    chance = np.random.default_rng(seed)
    packets = np.zeros(count, PACKET)
    packets["at_ns"] = 5 * 10**12 + np.cumsum(chance.integers(1_000, 200_000, count))
    packets["left_ns"] = packets["at_ns"] + 25_000_000 + chance.integers(0, 100_000, count)
    packets["way"] = chance.random(count) < 0.66
    data = packets["way"] == 1
    packets["payload"] = np.where(data, 1448, 0)
    packets["bytes"] = packets["payload"] + 52
    packets["seq"] = np.where(data, 3 * 10**9 + 1448 * np.cumsum(data), 77).astype("<u4")
    packets["ack"] = np.where(data, 88, 3 * 10**9 + 1448 * np.cumsum(data)).astype("<u4")
    packets["window"] = np.where(data, 509, chance.integers(2000, 2400, count))
    packets["source"], packets["destination"] = np.where(data, 4443, 40001), np.where(data, 40001, 4443)
    packets["protocol"], packets["flags"] = 6, 0x10
    lost = chance.random(count) < 0.02
    packets["fate"], packets["left_ns"] = np.where(lost, LOST, 0), np.where(lost, 0, packets["left_ns"])
    packets["scale"][:2] = 8
    return packets


def test_packets_come_back_as_they_were_and_take_little_room(folder: Path) -> None:
    packets = transfer(20_000, seed=3)
    packets.tofile(folder / "packets-access.bin")
    packets[:7].tofile(folder / "packets-storage.bin")
    tabulate_evidence(folder)
    assert sorted(path.suffix for path in folder.glob("packets-*")) == [".parquet", ".parquet"]
    assert np.array_equal(read_packets(folder), packets)
    assert np.array_equal(read_packets(folder, "storage"), packets[:7])
    file = folder / "packets-access.parquet"
    assert file.stat().st_size < BAR_BYTES * len(packets)
    assert duckdb.read_parquet(str(file)).columns == list(PACKET.names or ())
    # Others can read it too, and find no time at which a lost packet left.
    query = f"SELECT count(*), count(left_ns), sum(seq), max(at_ns) FROM '{file}'"
    lost = int((packets["fate"] == LOST).sum())
    wanted = (20_000, 20_000 - lost, int(packets["seq"].sum(dtype=np.uint64)), int(packets["at_ns"].max()))
    assert duckdb.sql(query).fetchall() == [wanted]


@settings(max_examples=30)
@given(st.binary(max_size=40 * 40).map(lambda some: some[: len(some) // 40 * 40]))
def test_any_packets_come_back(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    packets = np.frombuffer(content, PACKET).copy()
    packets["ecn"] = 0
    for time in ("at_ns", "left_ns"):
        packets[time] %= 2**60
    packets.tofile(folder / "packets-access.bin")
    tabulate_evidence(folder)
    assert np.array_equal(read_packets(folder), packets)


def test_the_account_of_tcp_names_hosts(folder: Path) -> None:
    rows = np.zeros(3, ROW)
    rows["at_ns"], rows["host"], rows["rtt_ns"] = [5, 5, 25], [0, 1, 1], [0, 30_000_000, 31_000_000]
    rows["cwnd"], rows["local_port"], rows["state"] = [10, 20, 21], [40001, 4443, 4443], 1
    rows.tofile(folder / "tcp.bin")
    tabulate_evidence(folder)
    assert not (folder / "tcp.bin").exists()
    account = read_tcp_account(folder)
    assert set(account) == set(ROW.names or ())
    server = [account[name][account["host"] == "server"].tolist() for name in ("at_ns", "rtt_ns", "cwnd", "local_port")]
    assert server == [[5, 25], [30_000_000, 31_000_000], [20, 21], [4443, 4443]]


def test_what_is_cut_off_stays_to_be_looked_at(folder: Path) -> None:
    names = {"packets-access.bin", "frames-access.bin", "tcp.bin"}
    for name in names:
        (folder / name).write_bytes(bytes(99))
    tabulate_evidence(folder)
    assert {path.name for path in folder.iterdir()} == {"trial.json", *names}


@settings(max_examples=30)
@given(st.binary(max_size=60 * 30).map(lambda some: some[: len(some) // 60 * 60]))
def test_any_frames_come_back(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    put(folder / "trial.json", TrialFile, {"h123": "trial/1", "links": [{"name": "access"}]})
    frames = np.frombuffer(content, FRAME)
    frames.tofile(folder / "frames-access.bin")
    tabulate_evidence(folder)
    assert np.array_equal(read_frames(folder), frames)
    assert not (folder / "frames-access.bin").exists()


def test_a_frame_that_was_never_readable_has_no_time(folder: Path) -> None:
    frames = np.zeros(2, FRAME)
    frames["left_ns"], frames["kind"] = [0, 7], [FrameKind.DATA, FrameKind.CLOSE]
    frames.tofile(folder / "frames-access.bin")
    tabulate_evidence(folder)
    assert duckdb.sql(f"SELECT left_ns FROM '{folder}/frames-access.parquet'").fetchall() == [(None,), (7,)]


@pytest.mark.parametrize("capture", [False, True])
def test_keys_go_unless_a_capture_needs_them(tmp_path: Path, capture: bool) -> None:
    content = {"h123": "trial/1", "links": [{"name": "access", "packets": 9, "capture": capture}]}
    put(tmp_path / "trial.json", TrialFile, content)
    (tmp_path / KEYS).write_text("CLIENT_RANDOM 00 00\n")
    tabulate_evidence(tmp_path)
    assert (tmp_path / KEYS).exists() == capture


def test_what_only_looks_like_keys_stays(folder: Path) -> None:
    (folder / KEYS).mkdir()
    tabulate_evidence(folder)
    assert (folder / KEYS).is_dir()


@pytest.mark.parametrize("read", [read_packets, read_frames, read_tcp_account])
def test_a_trial_without_evidence_says_so(folder: Path, read: Callable[[Path], object]) -> None:
    tabulate_evidence(folder)
    with pytest.raises(UserError, match="earlier version"):
        read(folder)


@pytest.mark.parametrize(("read", "name"), [(read_packets, "packets-access"), (read_tcp_account, "tcp")])
def test_a_table_that_is_not_whole_is_refused(folder: Path, read: Callable[[Path], object], name: str) -> None:
    transfer(100, seed=1).tofile(folder / "packets-access.bin")
    np.zeros(3, ROW).tofile(folder / "tcp.bin")
    tabulate_evidence(folder)
    file = folder / f"{name}.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(UserError, match="cannot be read"):
        read(folder)
