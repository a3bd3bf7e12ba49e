"""Plays an arrival script to Linux's queue disciplines, inside the virtual kernel. It uses only the standard library.

player.py SCRIPT RESULT

SCRIPT is JSON: `setup`, commands that give the device w0 its disciplines; `handle`, the discipline that has a queue
for each flow, or 0; `step`, the difference between the hashes of two flows, and `hosts`, over which the flows are
spread (for CAKE); `packets`, a list of [offset in ns, bytes, flow, ECN field]; `draws`, a number for each packet;
and `tail_s`, how long to wait for the last packets. RESULT gets a line with two times between which the disciplines
were made (ns), then a line for each packet: when it was given to the kernel (ns), its place among the packets that left
the device, or `-`, and 1 if it left with Congestion Experienced, else 0.

The packets go through a TUN device: its disciplines see IP packets without a link header, and the player can read what
leaves them. There is one thread: in the virtual kernel a clock costs time when a program reads it, so a second thread
could come between a packet's time and its arrival.
"""

import contextlib
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

DEVICE = "w0"
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
ETH_P_IP = 0x0800
SO_SNDBUFFORCE, SO_PRIORITY, SO_TIMESTAMPING = 32, 12, 37
STAMP_WHEN_SCHEDULED, STAMP_BY_SOFTWARE, STAMP_ALONE = 1 << 8, 1 << 4, 1 << 11
""""Before the packet comes to its queue discipline" (the kernel's documentation of timestamping)."""
TIMESPEC = struct.Struct("=qq")
ROOM = 1 << 30
"""The bytes that a socket may have in the queue."""
INDEX = struct.Struct("!I")
DRAW = struct.Struct("=Q")
FLOW = struct.Struct("=II")
HEADER, DRAW_AT, FLOW_AT = 20, 24, 32
LEAD_S = 2.0
"""The time from the setup of the disciplines to the first packet, in which token buckets fill."""
TICK_NS = 80_000_000
"""A multiple of the periods of the kernel's timers (10 ms) and of DualPI2's (16 ms), from which offsets count."""
NAP_NS = 1_000_000
"""The time between two reads of the device. Fewer packets leave in it than the device holds."""


class Player:
    """A device with its disciplines, and the packets that left it."""

    def __init__(self, setup: list[str], handle: int, step: int, hosts: int) -> None:
        self._handle, self._step, self._hosts = handle, step, hosts
        self._device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self._device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
        subprocess.run(f"ip link set {DEVICE} mtu 1500 up".split(), check=True)
        begun = time.monotonic_ns()
        for command in setup:
            subprocess.run(command.split(), check=True)
        self.made = begun, time.monotonic_ns()
        self._sockets: dict[int, socket.socket] = {}
        self.left: dict[int, tuple[int, int]] = {}

    def play(self, packets: list[tuple[int, int, int, int]], draws: list[int], tail_s: float) -> list[int]:
        """Play the packets, and return when each was given to the kernel, in ns."""
        # Stamps are of the real-time clock. To read a clock takes 256 ns here.
        ahead = time.time_ns() - time.monotonic_ns() + 256
        came, begin = [], (time.monotonic_ns() + int(LEAD_S * 1e9)) // TICK_NS * TICK_NS
        for index, ((offset, size, flow, ecn), draw) in enumerate(zip(packets, draws, strict=True)):
            packet = bytearray(size)
            struct.pack_into("!BBHHHBBH4s4s", packet, 0, 0x45, ecn, size, 0, 0, 64, 17, 0, bytes(4), bytes(4))
            INDEX.pack_into(packet, HEADER, index)
            DRAW.pack_into(packet, DRAW_AT, draw)
            FLOW.pack_into(packet, FLOW_AT, flow * self._step, flow % self._hosts)
            sender = self._sender(flow)
            self._wait(begin + offset)
            with contextlib.suppress(OSError):  # ENOBUFS: it was dropped
                sender.sendto(packet, (DEVICE, ETH_P_IP))
            _, ancillary, _, _ = sender.recvmsg(0, 256, socket.MSG_ERRQUEUE)
            seconds, ns = next(TIMESPEC.unpack_from(data) for _, kind, data in ancillary if kind == SO_TIMESTAMPING)
            came.append(seconds * 10**9 + ns - ahead)
            self._read()
        self._wait(time.monotonic_ns() + int(tail_s * 1e9))
        return came

    def _wait(self, until: int) -> None:
        while (wait := until - time.monotonic_ns()) > 0:
            time.sleep(min(wait, NAP_NS) / 1e9)
            self._read()

    def _sender(self, flow: int) -> socket.socket:
        """Return the socket of a flow. A discipline with a queue for each flow puts its packets into the queue of that
        number."""
        if flow not in self._sockets:
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
            stamps = STAMP_WHEN_SCHEDULED | STAMP_BY_SOFTWARE | STAMP_ALONE
            opened.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, stamps)
            if self._handle:
                opened.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, self._handle << 16 | flow + 1)
            self._sockets[flow] = opened
        return self._sockets[flow]

    def _read(self) -> None:
        """Note the packets that have left."""
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(self._device, 4096)
                if packet[0] == 0x45 and packet[9] == 17:
                    (index,) = INDEX.unpack_from(packet, HEADER)
                    self.left[index] = (len(self.left), int(packet[1] & 3 == 3))


def main(script: Path, result: Path) -> None:
    plan = json.loads(script.read_text())
    player = Player(plan["setup"], plan["handle"], plan["step"], plan["hosts"])
    lines = ["{} {}\n".format(*player.made)]
    for index, at in enumerate(player.play(plan["packets"], plan["draws"], plan["tail_s"])):
        place, marked = player.left.get(index, ("-", 0))
        lines.append(f"{at} {place} {marked}\n")
    result.write_text("".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
