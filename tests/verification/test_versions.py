"""What a server says to a packet of a version of QUIC that there is not."""

import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from h123.verification.server_checks import versions

ONE, TWO = bytes.fromhex("00000001"), bytes.fromhex("6b3343cf")


def answer(question: bytes, listed: bytes) -> bytes:
    """As RFC 8999 has it: no version, and the connection's IDs the other way round."""
    to, by = question[6:14], question[15:23]
    return b"\xc9" + bytes(4) + b"\x08" + by + b"\x08" + to + listed


@contextmanager
def server(says: Callable[[bytes], bytes], unheard: int = 0) -> Iterator[int]:
    """Its port. What comes first is not heard."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(60)

        def run() -> None:
            for number in range(unheard + 1):
                question, client = udp.recvfrom(65535)
                if number == unheard:
                    udp.sendto(says(question), client)

        thread = threading.Thread(target=run)
        thread.start()
        yield udp.getsockname()[1]
        thread.join()


def test_the_question_may_begin_a_connection_of_another_version() -> None:
    question = versions.question()
    assert len(question) == 1200
    assert question[0] & 0x80
    assert question[1:5].hex() == "1a2a3a4a"


@pytest.mark.parametrize("unheard", [0, 1])
def test_a_server_names_its_versions(unheard: int) -> None:
    with server(lambda question: answer(question, ONE + TWO), unheard) as port:
        assert versions.ask("127.0.0.1", port) == (True, "0x1, 0x6b3343cf")


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (lambda asked: answer(asked, TWO), "versions 0x6b3343cf: expected 0x1"),
        (lambda asked: answer(asked, ONE + asked[1:5]), "not 0x1a2a3a4a, which does not exist"),
        (lambda asked: answer(asked, b""), "0 bytes of versions"),
        (lambda asked: answer(asked, ONE + b"\0"), "5 bytes of versions"),
        (lambda asked: asked, "not a Version Negotiation packet"),
        (lambda asked: answer(asked[:6] + asked[14:], ONE), "not a Version Negotiation packet"),
        (lambda _: b"", "not a Version Negotiation packet"),
    ],
)
def test_anything_else_is_a_fault(says: Callable[[bytes], bytes], why: str) -> None:
    with server(says) as port:
        passed, detail = versions.ask("127.0.0.1", port)
    assert not passed
    assert why in detail


def test_silence_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_WAIT_S", 0.05)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        passed, detail = versions.ask("127.0.0.1", udp.getsockname()[1])
    assert (passed, detail) == (False, "no response to 3 packets of version 0x1a2a3a4a, 0.05 s each")


def test_it_runs_by_itself_from_file_to_file(tmp_path: Path) -> None:
    command = versions.command(tmp_path, "plan.json", "checks.json")
    with server(lambda question: answer(question, ONE)) as port:
        (tmp_path / "plan.json").write_text(json.dumps({"address": "127.0.0.1", "port": port, "ca": "unused"}))
        subprocess.run(command, cwd=tmp_path, check=True)
    assert json.loads((tmp_path / "checks.json").read_text()) == {
        "h123": "checks/1",
        "checks": [{"check": "versions", "passed": True, "detail": "0x1"}],
    }
