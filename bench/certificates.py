"""Prints the map of docs/results/certificates.md from campaigns of the study `certificates`.

    PYTHONPATH=src .venv/bin/python bench/certificates.py CAMPAIGN [CAMPAIGN]

Predicts the round trips until the first byte from TLS's messages (RFC 8446), slow start (RFC 5681, 9002) and QUIC's
anti-amplification limit (RFC 9000, 8.1), and compares them with those counted. The exit status is 1 if a trial's
differ.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.base.terminal.markdown import table
from h123.base.transport import TCP_PAYLOAD
from h123.base.units import parse_size
from h123.measures import Attempt, load_attempts
from h123.store import CampaignFolder
from h123.study import slow_start_round_trips

ML_KEM = "X25519MLKEM768"
SERVER_SHARE = {"X25519": 32, ML_KEM: 32 + 1088}
CLIENT_DATAGRAMS = {"X25519": 1, ML_KEM: 2}
"""ML-KEM's share has 1184 bytes."""
FROM_CLIENT, TIMES = 1200, 3
CHANGE_CIPHER, HEADER, TAG, RECORD = 6, 5, 17, 1 << 14
SESSION_ID, ALPN, SIGNATURE, FINISHED = 32, 15, 8 + 71, 36
"""The bytes of TLS's messages: EncryptedExtensions with ALPN, CertificateVerify with ECDSA P-256 (70 to 72 bytes), and
Finished with SHA-256. Over TCP, the server repeats a session ID."""
FRAME, INITIAL_MORE = 5, 10
"""The bytes of a CRYPTO frame's header, and of an Initial packet's token length and acknowledgement."""


@dataclass(frozen=True)
class Stack:
    """A server's properties. Sizes are in bytes."""

    buffer: int | None
    """Over TCP. None: the server writes its flight at once."""
    datagram: int
    packet: int
    """A Handshake packet's header, with both connection IDs, and its tag."""
    parameters: int
    """Its transport parameters."""
    beyond: bool
    """Whether a datagram may end beyond the anti-amplification limit."""
    window: int | None
    """The initial window over QUIC. None: the study sets the packets."""
    unused: int
    """The acknowledged bytes that do not widen a window that is at most half full (RFC 9002, section 7.8)."""


STACKS = {
    "go": Stack(None, 1280, 39, 160, beyond=True, window=None, unused=1280),
    "nginx-sid": Stack(4096, 1200, 54, 130, beyond=False, window=12_000, unused=0),
}


def tcp_round_trips(stack: Stack, share: str, certificates: int, window: int) -> int:
    """Return the round trips over TCP: three, and those that the flight waits for its window, in packets."""
    message = _certificate(certificates)
    parts = [min(RECORD, message - begin) for begin in range(0, message, RECORD)]
    encrypted = [HEADER + TAG + part for part in (ALPN, *parts, SIGNATURE, FINISHED)]
    records = [HEADER + _hello(share, SESSION_ID), CHANGE_CIPHER, *encrypted]
    writes = [sum(records)] if stack.buffer is None else _writes(records, stack.buffer)
    return 3 + slow_start_round_trips(_packets(writes, window), window)


def _packets(writes: Iterable[int], window: int) -> int:
    """Return the packets. Only a write that fits the initial window ends with one that is not full."""
    packets = waiting = 0
    for write in writes:
        at_once = min(write, (window - packets) * TCP_PAYLOAD)
        packets, waiting = packets + math.ceil(at_once / TCP_PAYLOAD), waiting + write - at_once
    return packets + math.ceil(waiting / TCP_PAYLOAD)


def _writes(records: Sequence[int], buffer: int) -> Iterator[int]:
    """Yield the bytes of each write of OpenSSL's BIO_f_buffer: a full buffer, the rest of a longer record, and at the
    end what is left."""
    held = 0
    for record in records:
        if held + record <= buffer:
            held += record
            continue
        if held:
            yield buffer
            record -= buffer - held
        held = record if record < buffer else 0
        if not held:
            yield record
    yield held


def quic_round_trips(stack: Stack, share: str, certificates: int, window: int) -> int:
    """Return the round trips over QUIC. The server first sends three times what it received. Then acknowledgements have
    validated the client's address, and the server sends its window, which grows by the acknowledged bytes."""
    initial = _hello(share, 0)
    extensions = ALPN + 4 + stack.parameters
    handshake = extensions + _certificate(certificates) + SIGNATURE + FINISHED
    limit, congestion = TIMES * CLIENT_DATAGRAMS[share] * FROM_CLIENT, stack.window or window * stack.datagram
    round_trips = 1
    while initial + handshake > 0:
        round_trips, sent = round_trips + 1, 0
        while sent < limit and initial + handshake > 0:
            size = stack.datagram if stack.beyond or round_trips > 2 else min(stack.datagram, limit - sent)
            initial, handshake = _datagram(size, stack.packet, initial, handshake)
            sent += size
        congestion += sent - (stack.unused if 2 * sent <= congestion else 0)
        limit = congestion
    return round_trips


def _datagram(size: int, packet: int, initial: int, handshake: int) -> tuple[int, int]:
    """Return the bytes of both kinds that a datagram leaves."""
    if initial:
        taken = min(initial, max(0, size - packet - INITIAL_MORE - FRAME))
        initial, size = initial - taken, size - taken - packet - INITIAL_MORE - FRAME
    return initial, handshake - min(handshake, max(0, size - packet - FRAME))


def _hello(share: str, session_id: int) -> int:
    """Return the bytes of ServerHello."""
    return 4 + 2 + 32 + 1 + session_id + 2 + 1 + 2 + 6 + 8 + SERVER_SHARE[share]


def _certificate(certificates: int) -> int:
    """Return the bytes of the message with two certificates."""
    return 4 + 1 + 3 + certificates + 2 * (3 + 2)


def predicted(attempt: Attempt) -> int:
    """Return a trial's round trips according to arithmetic."""
    p = attempt.parameters
    count = quic_round_trips if p["protocol"] == "h3" else tcp_round_trips
    return count(STACKS[p["server"]], p["key_share"], p["certificate"], p["initial_window"])


def main(*campaigns: Path) -> int:
    """Print the map, and return exit status 1 if a trial differs."""
    attempts = [attempt for path in campaigns for attempt in load_attempts(CampaignFolder.open(path))]
    differing = [
        f"{attempt.name}: {sorted(counted)} round trips, {predicted(attempt)} predicted"
        for attempt in attempts
        if (counted := {opening.round_trips for opening in attempt.openings}) != {predicted(attempt)}
    ]
    print("\n".join(table(list(_map(attempts)))))
    print(f"\n{len(attempts) - len(differing)} of {len(attempts)} trials as predicted")
    print("".join(f"{line}\n" for line in differing), end="", file=sys.stderr)
    return 1 if differing else 0


def _map(attempts: Sequence[Attempt]) -> Iterator[dict[str, str]]:
    """Yield a row for each size: for each stack the round trips with X25519 and, if they differ, with ML-KEM."""
    groups: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for attempt in attempts:
        key = tuple(attempt.cell[factor] for factor in ("certificate", "stack", "key_share"))
        groups[key] |= {str(opening.round_trips) for opening in attempt.openings}
    for size in _levels(attempts, "certificate"):
        row = {"certificates": size}
        for stack in _levels(attempts, "stack"):
            counted = ["?".join(sorted(groups[size, stack, share])) for share in SERVER_SHARE]
            row[stack] = "/".join(dict.fromkeys(counted))
        yield row


def _levels(attempts: Sequence[Attempt], factor: str) -> list[str]:
    """Return a factor's levels in order."""
    levels = dict.fromkeys(attempt.cell[factor] for attempt in attempts)
    return sorted(levels, key=parse_size if factor == "certificate" else None)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
