"""A study that asks for captures: what the client's interface saw of each trial, and the keys to read it."""

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Tool
from h123.documents import read_document
from h123.documents.campaign_file import Seal
from h123.packets.capture import DELIVERED, DOWN, UP, read_packets
from h123.store import CampaignFolder
from stored import stored_rows

SECTION, INTERFACE, PACKET, SECRETS = 0x0A0D0D0A, 1, 6, 10
RAW_IP = 101


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    """A small campaign over a lossy link."""
    tool = Tool(tmp_path_factory.mktemp("capture"))
    return tool.run_smoke(("[lan, medium]", "[poor]"), ("settings:", "settings:\n  capture: true"), ("10kB", "100kB"))


def _blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    while content:
        kind, length = struct.unpack_from("<II", content)
        assert struct.unpack_from("<I", content, length - 4) == (length,)
        yield kind, content[8 : length - 4]
        content = content[length:]


def _trials(campaign: CampaignFolder) -> list[Path]:
    return [campaign.attempt(event) for event in campaign.events() if event["event"] == "trial" and event["valid"]]


def test_the_capture_has_what_the_client_sent_and_got(measured: CampaignFolder) -> None:
    for folder in _trials(measured):
        assert "capture-access.pcapng" in read_document(folder / "seal.json", Seal).files
        (section, _), (interface, link), *rest = _blocks((folder / "capture-access.pcapng").read_bytes())
        assert (section, interface, struct.unpack_from("<H", link)[0]) == (SECTION, INTERFACE, RAW_IP)
        bodies = [body for kind, body in rest if kind == PACKET]
        times = [high << 32 | low for high, low in (struct.unpack_from("<II", body, 4) for body in bodies)]
        packets = read_packets(folder)
        sent = packets["at_ns"][packets["way"] == UP]
        got = packets["left_ns"][(packets["way"] == DOWN) & (packets["fate"] == DELIVERED) & (packets["left_ns"] > 0)]
        assert times == sorted(np.concatenate([sent, got]).tolist())
        lengths = [struct.unpack_from("<II", body, 12) for body in bodies]
        assert all(
            kept == whole == struct.unpack_from(">H", body, 22)[0]
            for body, (kept, whole) in zip(bodies, lengths, strict=True)
        )
        lost = int((packets["way"] == UP).sum() - ((packets["way"] == UP) & (packets["fate"] == DELIVERED)).sum())
        assert sum(b"lost on the link" in body for body in bodies) == lost


def test_the_keys_of_every_connection_are_in_it(measured: CampaignFolder) -> None:
    for folder in _trials(measured):
        kinds = [kind for kind, _ in _blocks((folder / "capture-access.pcapng").read_bytes())]
        assert kinds[:3] == [SECTION, INTERFACE, SECRETS], "keys come before what they open"
        keys = (folder / "keys.txt").read_bytes()
        assert keys in (folder / "capture-access.pcapng").read_bytes()
        opened = [row["reused"] for row in stored_rows(folder / "samples.parquet")].count(0)
        assert keys.count(b"CLIENT_TRAFFIC_SECRET_0 ") == opened > 0
