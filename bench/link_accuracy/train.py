"""Sends or receives a train of UDP packets inside a trial. It uses only the standard library.

train.py send ADDRESS PLAN       PLAN: JSON list of [offset in ns, bytes of the IP packet]
train.py receive ARRIVALS        writes a line for each packet: its index, and when it was sent and received, ns

A packet's sending time is read before the packet is given to the kernel. Its arrival time is the one at which the other
host's kernel takes it from the device.
"""

import json
import signal
import socket
import struct
import sys
import time
from pathlib import Path

PORT = 9000
HEADERS = 28
"""The bytes of the headers of IPv4 and UDP."""
STAMP = struct.Struct("=qq")
SO_TIMESTAMPNS = 35
"""Linux's value; this Python's socket module does not name it."""
LEAD_NS, TAIL_S = 5_000_000, 3.0
"""The pause before the first packet, and the time after the last one in which all packets must arrive."""


def send(address: str, plan: list[tuple[int, int]]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((address, PORT))
        start = time.monotonic_ns() + LEAD_NS
        for index, (offset, size) in enumerate(plan):
            wait = start + offset - time.monotonic_ns()
            if wait > 0:
                time.sleep(wait / 1e9)
            padding = bytes(size - HEADERS - STAMP.size)
            sender.send(STAMP.pack(index, time.time_ns()) + padding)
    time.sleep(TAIL_S)


def receive(arrivals: Path) -> None:
    """Note arriving packets until SIGTERM ends the process."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        arrivals.open("w", encoding="ascii") as lines,
    ):
        receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        receiver.bind(("", PORT))
        while True:
            packet, [(_, _, when)], _, _ = receiver.recvmsg(2048, socket.CMSG_SPACE(STAMP.size))
            index, sent = STAMP.unpack_from(packet)
            seconds, ns = STAMP.unpack(when)
            lines.write(f"{index} {sent} {seconds * 10**9 + ns}\n")


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], json.loads(Path(sys.argv[3]).read_text()))
    else:
        receive(Path(sys.argv[2]))
