"""Sends a server a packet of a QUIC version that does not exist. The server must respond with the versions that it
supports (RFC 9000, section 6).

The script replaces the client of a trial. It reads and writes the same files as the probe: `python versions.py
plan.json checks.json`.
"""

import json
import shutil
import socket
import sys
from pathlib import Path

CHECK = "versions"
_NONE, _NEGOTIATION, _ONE = 0x1A2A3A4A, 0, 1
"""Values of the version field: a reserved version that no server supports, the value in a Version Negotiation packet,
and version 1."""
_ASKED_OF, _ASKED_BY = b"to whom.", b"by whom."
"""The destination and source connection IDs of the request. The response contains them in reverse order."""
_LEAST = 1200
"""The smallest size of a connection's first datagram in bytes. Servers need not respond to smaller ones."""
_TIMES, _WAIT_S = 3, 2.0


def command(folder: Path, plan: str, checks: str) -> list[str]:
    """Return the command for a trial in this folder. The command runs a copy of this script in the folder, because a
    lab may hide the original."""
    script = Path(shutil.copy(__file__, folder)).name
    return [str(Path(sys.executable).resolve()), "-I", script, plan, checks]


def question() -> bytes:
    ids = b"".join(bytes([len(connection_id)]) + connection_id for connection_id in (_ASKED_OF, _ASKED_BY))
    return (b"\xc0" + _NONE.to_bytes(4, "big") + ids).ljust(_LEAST, b"\0")


def judge_answer(answer: bytes) -> tuple[bool, str]:
    """Return whether the response is right, and a description of it."""
    ids = b"".join(bytes([len(connection_id)]) + connection_id for connection_id in (_ASKED_BY, _ASKED_OF))
    begin, rest = answer[: 5 + len(ids)], answer[5 + len(ids) :]
    if not begin or not begin[0] & 0x80 or begin[1:] != _NEGOTIATION.to_bytes(4, "big") + ids:
        return False, f"the response is not a Version Negotiation packet of that connection: {answer[:40].hex()}"
    if not rest or len(rest) % 4:
        return False, f"{len(rest)} bytes of versions, of 4 each"
    versions = [int.from_bytes(rest[at : at + 4], "big") for at in range(0, len(rest), 4)]
    names = ", ".join(f"{version:#x}" for version in versions)
    if _ONE not in versions or _NONE in versions:
        return False, f"versions {names}: expected {_ONE:#x}, and not {_NONE:#x}, which does not exist"
    return True, names


def ask(address: str, port: int) -> tuple[bool, str]:
    """Send the request, retry it if no response arrives, and judge the response."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.connect((address, port))
        udp.settimeout(_WAIT_S)
        for _ in range(_TIMES):
            udp.send(question())
            try:
                return judge_answer(udp.recv(65535))
            except TimeoutError:
                continue
    return False, f"no response to {_TIMES} packets of version {_NONE:#x}, {_WAIT_S:g} s each"


def main(plan: str, checks: str) -> None:
    case = json.loads(Path(plan).read_text("utf-8"))
    passed, detail = ask(case["address"], case["port"])
    document = {"h123": "checks/1", "checks": [{"check": CHECK, "passed": passed, "detail": detail}]}
    Path(checks).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
