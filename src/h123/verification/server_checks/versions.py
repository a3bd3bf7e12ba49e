"""Sends a server a QUIC version that does not exist; it must then name its own versions (RFC 9000, section 6).

It runs in the client's place of a trial, with the probe's files: `python versions.py plan.json checks.json`.
"""

import json
import shutil
import socket
import sys
from pathlib import Path

CHECK = "versions"
_NONE, _NEGOTIATION, _ONE = 0x1A2A3A4A, 0, 1
"""Versions: a reserved one that no server has, that of the answer, and QUIC's."""
_ASKED_OF, _ASKED_BY = b"to whom.", b"by whom."
"""Connection IDs, which come back the other way round."""
_LEAST = 1200
"""Bytes of the first datagram of a connection: fewer need no answer."""
_TIMES, _WAIT_S = 3, 2.0


def command(folder: Path, plan: str, checks: str) -> list[str]:
    """The command for a trial of this folder. It names a copy in the folder, because a lab may hide this file."""
    script = Path(shutil.copy(__file__, folder)).name
    return [str(Path(sys.executable).resolve()), "-I", script, plan, checks]


def question() -> bytes:
    ids = b"".join(bytes([len(connection_id)]) + connection_id for connection_id in (_ASKED_OF, _ASKED_BY))
    return (b"\xc0" + _NONE.to_bytes(4, "big") + ids).ljust(_LEAST, b"\0")


def judge_answer(answer: bytes) -> tuple[bool, str]:
    """Whether the answer is right, and its content."""
    ids = b"".join(bytes([len(connection_id)]) + connection_id for connection_id in (_ASKED_BY, _ASKED_OF))
    begin, rest = answer[: 5 + len(ids)], answer[5 + len(ids) :]
    if not begin or not begin[0] & 0x80 or begin[1:] != _NEGOTIATION.to_bytes(4, "big") + ids:
        return False, f"the answer is not a Version Negotiation packet of that connection: {answer[:40].hex()}"
    if not rest or len(rest) % 4:
        return False, f"{len(rest)} bytes of versions, of 4 each"
    versions = [int.from_bytes(rest[at : at + 4], "big") for at in range(0, len(rest), 4)]
    names = ", ".join(f"{version:#x}" for version in versions)
    if _ONE not in versions or _NONE in versions:
        return False, f"versions {names}: {_ONE:#x} is wanted, and not {_NONE:#x}, which no version is"
    return True, names


def ask(address: str, port: int) -> tuple[bool, str]:
    """Send the request and judge the answer. Datagrams may be lost."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.connect((address, port))
        udp.settimeout(_WAIT_S)
        for _ in range(_TIMES):
            udp.send(question())
            try:
                return judge_answer(udp.recv(65535))
            except TimeoutError:
                continue
    return False, f"no answer to {_TIMES} packets of version {_NONE:#x}, {_WAIT_S:g} s each"


def main(plan: str, checks: str) -> None:
    case = json.loads(Path(plan).read_text("utf-8"))
    passed, detail = ask(case["address"], case["port"])
    document = {"h123": "checks/1", "checks": [{"check": CHECK, "passed": passed, "detail": detail}]}
    Path(checks).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
