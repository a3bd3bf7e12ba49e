"""The frames of HTTP/2 and QUIC that the lab reads, in real trials whose sizes and limits are known."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from h123.catalogue import catalogue, install
from h123.execution import SERVER_ADDRESS, LocalPool, campaign_certificate
from h123.packets.capture import DOWN, TCP, UDP, UP, packets_file, read_packets
from h123.packets.frames import KEYS, FrameKind, Frames, read_frames
from h123.packets.tcp_account import read_tcp_account
from h123.study import Network, Parameters
from h123.study.networks.network import Bottleneck, Direction, Loss, Queue
from h123.verification.trial import Trial, Trials, calm_clock
from h123.virtual import installed_kernel

BODY = 100_000
MS = 1_000_000
WINDOW, STREAMS = 4, 3
"""SETTINGS_INITIAL_WINDOW_SIZE, SETTINGS_MAX_CONCURRENT_STREAMS."""
MAX_DATA, MAX_STREAMS = 4, 8
"""Transport parameters."""


def carried(folder: Path, protocol: str, client: str = "go", loss: float = 0, **settings: Any) -> Trial:
    """Four requests of two users, 20 ms from the server."""
    subjects = catalogue()
    for name in {"go", client}:
        install(subjects[name], print)
    way = Direction(
        delay_ns=10 * MS,
        rate=Bottleneck(bps=50_000_000),
        queue=Queue(bytes=200_000),
        loss=Loss(random=loss) if loss else None,
    )
    network = Network(name="known", title="known", up=way, down=way)
    basis = {"server": "go", "client": client, "congestion": "cubic", "method": "GET", "network": "known"}
    load = {"protocol": protocol, "size": BODY, "users": 2, "requests": 2, "cold": False}
    parameters = Parameters.model_validate({**basis, **load, "clock": calm_clock(subjects[client]), **settings})
    certificate = campaign_certificate(folder / "tls", [SERVER_ADDRESS])
    trial = Trials(subjects, certificate, LocalPool()).carry_out(folder / "trial", parameters, network, lambda _: None)
    assert trial.reasons == []
    assert not (trial.folder / KEYS).exists()
    link = trial.report.links[0]
    assert (link.frames_left_out, link.frames_unread) == (0, [])
    return trial


def of(frames: Frames, way: int, kind: FrameKind) -> Frames:
    return frames[(frames["way"] == way) & (frames["kind"] == kind)]


def settings_of(frames: Frames, way: int) -> dict[int, int]:
    settings = of(frames, way, FrameKind.SETTING)
    return dict(zip(settings["id"].tolist(), settings["value"].tolist(), strict=True))


def stream_bytes(frames: Frames, way: int) -> dict[int, int]:
    """Of QUIC's streams that a client began, how far their data go, each byte once."""
    rows = of(frames, way, FrameKind.STREAM)
    ends = {int(stream): 0 for stream in rows["stream"] if stream % 4 == 0}
    for stream in ends:
        own = rows[rows["stream"] == stream]
        covered = np.zeros(int((own["offset"] + own["length"]).max()), bool)
        for row in own:
            covered[int(row["offset"]) : int(row["offset"]) + int(row["length"])] = True
        assert covered.all()
        ends[stream] = len(covered)
        assert own["fin"].max() == 1
    return ends


def in_order(trial: Trial, frames: Frames, protocol: int) -> None:
    """Times are as the packets have them, and no frame is readable before its last byte came."""
    assert (frames["protocol"] == protocol).all()
    assert (np.diff(frames["at_ns"]) >= 0).all()
    packets = read_packets(trial.folder)
    assert np.isin(frames["at_ns"], packets["at_ns"]).all()
    assert np.isin(frames["sent_ns"], packets["at_ns"]).all()
    readable = frames[frames["left_ns"] > 0]
    assert (readable["left_ns"] >= readable["sent_ns"] + 10 * MS).all()
    clients = set(np.where(packets["way"] == UP, packets["source"], packets["destination"]).tolist())
    assert set(frames["port"].tolist()) <= clients


@pytest.mark.parametrize("loss", [0, 0.02])
def test_http2(tmp_path: Path, loss: float) -> None:
    trial = carried(tmp_path, "h2", loss=loss)
    frames = read_frames(trial.folder)
    in_order(trial, frames, TCP)
    data = of(frames, DOWN, FrameKind.DATA)
    assert {int(s): int(data["length"][data["stream"] == s].sum()) for s in data["stream"]} == dict.fromkeys(
        [1, 3, 5, 7], BODY
    )
    assert data["fin"].sum() == 4
    assert (data["left_ns"] > 0).all(), "TCP sends again what was lost"
    assert of(frames, UP, FrameKind.HEADERS)["fin"].tolist() == [1] * 4
    assert settings_of(frames, DOWN)[STREAMS] == 1000
    assert settings_of(frames, UP)[WINDOW] == 6 * 2**20


@pytest.mark.parametrize("loss", [0, 0.02])
def test_http3(tmp_path: Path, loss: float) -> None:
    trial = carried(tmp_path, "h3", loss=loss)
    frames = read_frames(trial.folder)
    in_order(trial, frames, UDP)
    bodies = stream_bytes(frames, DOWN)
    assert sorted(bodies) == [0, 4, 8, 12]
    assert all(BODY < size < BODY + 300 for size in bodies.values())
    assert ((of(frames, DOWN, FrameKind.STREAM)["left_ns"] == 0).sum() > 0) == (loss > 0)
    assert settings_of(frames, DOWN)[MAX_STREAMS] == 1000
    assert settings_of(frames, UP)[MAX_DATA] == 15 * 2**20


@pytest.mark.heavy
@pytest.mark.parametrize("client", ["load", "curl-openssl"])
@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_other_clients_log_their_keys_too(tmp_path: Path, client: str, protocol: str) -> None:
    frames = read_frames(carried(tmp_path, protocol, client, loss=0.01).folder)
    if protocol == "h2":
        data = of(frames, DOWN, FrameKind.DATA)
        assert int(data["length"].sum()) == 4 * BODY
        assert settings_of(frames, UP)[WINDOW] >= 2**16
    else:
        assert all(BODY < size < BODY + 300 for size in stream_bytes(frames, DOWN).values())
        assert settings_of(frames, UP)[MAX_DATA] > 2**16


@pytest.mark.skipif(installed_kernel() is None, reason="the virtual kernel is not installed")
def test_tcp_is_looked_at_each_millisecond_under_the_virtual_clock(tmp_path: Path) -> None:
    trial = carried(tmp_path, "h2")
    account = read_tcp_account(trial.folder)
    server = account["host"] == "server"
    times = sorted({*account["at_ns"][server].tolist()})
    assert max(after - before for before, after in pairwise(times)) < 1.5 * MS
    assert len(times) > 40, "a handshake and bodies take 100 ms"
    assert {*account["app_limited"].tolist()} <= {0, 1}
    assert account["notsent_bytes"][server].max() > 0


def test_http1_has_none(tmp_path: Path) -> None:
    trial = carried(tmp_path, "h1")
    assert packets_file(trial.folder).is_file()
    assert len(read_frames(trial.folder)) == 0
