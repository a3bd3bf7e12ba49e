"""Plays an arrival script to Linux's queue disciplines, inside the virtual kernel; standard library only.

player.py SCRIPT RESULT

SCRIPT is JSON: `setup`, commands that give the device w0 its disciplines; `handle`, the one that has a queue for each flow,
or 0; `packets`, a list of [offset in ns, bytes, flow, ECN field]; and `tail_s`, how long to wait for the last ones.
RESULT gets a line for each packet: when it was given to the kernel (ns), when it left the device, or `-`, and 1 if it was
marked then, else 0.

The packets go through a TUN device: its disciplines see IP packets without a header of a link, and what leaves them can be
read at once.
"""

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

DEVICE = "w0"
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
ETH_P_IP = 0x0800
SO_SNDBUFFORCE, SO_PRIORITY = 32, 12
ROOM = 1 << 30
"""Bytes that a socket may have in the queue."""
INDEX = struct.Struct("!I")
HEADER = 20
LEAD_S = 2.0
"""After the disciplines are there and before the first packet: buckets are full then."""


def main(script: Path, result: Path) -> None:
    plan = json.loads(script.read_text())
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    for command in [f"ip link set {DEVICE} mtu 1500 up", *plan["setup"]]:
        subprocess.run(command.split(), check=True)
    left: dict[int, tuple[int, int]] = {}
    threading.Thread(target=read, args=(device, left), daemon=True).start()
    time.sleep(LEAD_S)
    came = send(plan["packets"], plan["handle"])
    time.sleep(plan["tail_s"])
    lines = []
    for index, at in enumerate(came):
        when, marked = left.get(index, ("-", 0))
        lines.append(f"{at} {when} {marked}\n")
    result.write_text("".join(lines))


def send(packets: list[tuple[int, int, int, int]], handle: int) -> list[int]:
    """When each packet was given to the kernel."""
    sockets: dict[int, socket.socket] = {}
    came, begin = [], time.monotonic_ns()
    for index, (offset, size, flow, ecn) in enumerate(packets):
        if flow not in sockets:
            sockets[flow] = open_flow(flow, handle)
        wait = begin + offset - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        packet = bytearray(size)
        struct.pack_into("!BBHHHBBH4s4s", packet, 0, 0x45, ecn, size, 0, 0, 64, 17, 0, bytes(4), bytes(4))
        INDEX.pack_into(packet, HEADER, index)
        came.append(time.monotonic_ns())
        sockets[flow].send(packet)
    return came


def open_flow(flow: int, handle: int) -> socket.socket:
    """A socket whose packets a discipline with a queue for each flow puts into the queue of that number."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
    opened.bind((DEVICE, ETH_P_IP))
    opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
    if handle:
        opened.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, handle << 16 | flow + 1)
    return opened


def read(device: int, left: dict[int, tuple[int, int]]) -> None:
    """Notes when each packet leaves."""
    while True:
        packet = os.read(device, 4096)
        now = time.monotonic_ns()
        if packet[0] == 0x45 and packet[9] == 17:
            left[INDEX.unpack_from(packet, HEADER)[0]] = (now, int(packet[1] & 3 == 3))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
