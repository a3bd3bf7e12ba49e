"""Plays an arrival script to Linux's queue disciplines, inside the virtual kernel. It uses only the standard library.

player.py SCRIPT RESULT

SCRIPT is JSON: `setup`, commands that give the device w0 its disciplines; `handle`, the discipline that has a queue
for each flow, or 0; `step`, the difference between the hashes of two flows, and `hosts`, over which the flows are
spread (for CAKE); `packets`, a list of [offset in ns, bytes, flow, ECN field]; `draws`, a number for each packet, or
nothing: then the kernel draws, and says when each packet left, which costs it time. RESULT gets a line with two times
between which the disciplines were made (ns), then a line for each packet: when it was given to the kernel (ns), its
place among the packets that left the device, or `-`, 1 if it left with Congestion Experienced, else 0, and when it left
(ns), or 0.

The packets go through a TUN device: its disciplines see IP packets without a link header, and the player can read what
leaves them. There is one thread: in the virtual kernel a clock costs time when a program reads it, so a second thread
could come between a packet's time and its arrival.
"""

import contextlib
import ctypes
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
LIBC, ABSOLUTE = ctypes.CDLL(None), 1
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
ETH_P_IP = 0x0800
SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_PRIORITY, SO_TIMESTAMPING = 32, 33, 12, 37
STAMP_WHEN_SCHEDULED, STAMP_BY_SOFTWARE, STAMP_ALONE = 1 << 8, 1 << 4, 1 << 11
""""Before the packet comes to its queue discipline" (the kernel's documentation of timestamping)."""
STAMP_WHEN_SENT, STAMP_NUMBERED = 1 << 1, 1 << 7
PACKET_TX_TIMESTAMP, STAMP_OF, DEPARTURE = 16, struct.Struct("=8xII"), 0
"""What a stamp is of, and the packet's number on its socket."""
TIMESPEC = struct.Struct("=qq")
ROOM = 1 << 30
"""The bytes that a socket may have in the queue, and in stamps."""
HOST, FLOW, INDEX, DRAW = struct.Struct("=I"), struct.Struct("=I"), struct.Struct("!I"), struct.Struct("=Q")
SOURCE_AT, TARGET_AT, FLOW_AT, INDEX_AT, DRAW_AT = 12, 16, 20, 24, 28
"""The addresses, the ports, and what follows them."""
LEAD_S = 2.0
"""The time from the setup of the disciplines to the first packet, in which token buckets fill."""
TICK_NS = 80_000_000
"""A multiple of the periods of the kernel's timers (10 ms) and of DualPI2's (16 ms), from which offsets count."""
NAP_NS = 20_000_000
"""The time between two reads of the device. Fewer packets leave in it than the device holds."""
SILENCE_NS = 500_000_000
"""If nothing left for so long after the last packet came, nothing is left in the queue."""


def _sleep(until: int) -> None:
    """Sleep until then without reading a clock, as `time.sleep` does: system calls make most of a run's duration."""
    when = (ctypes.c_long * 2)(*divmod(until, 10**9))
    LIBC.clock_nanosleep(time.CLOCK_MONOTONIC, ABSOLUTE, when, None)


class Player:
    """A device with its disciplines, and the packets that left it."""

    def __init__(self, setup: list[str], handle: int, step: int, hosts: int, timed: bool) -> None:
        self._handle, self._step, self._hosts, self._timed = handle, step, hosts, timed
        self._device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self._device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
        subprocess.run(f"ip link set {DEVICE} mtu 1500 up".split(), check=True)
        begun = time.monotonic_ns()
        for command in setup:
            subprocess.run(command.split(), check=True)
        self.made = begun, time.monotonic_ns()
        # Stamps are of the real-time clock. To read a clock takes 256 ns here.
        self._ahead = time.time_ns() - time.monotonic_ns() + 256
        self._sockets: dict[int, socket.socket] = {}
        self._sent: dict[socket.socket, list[int]] = {}
        self.left: dict[int, tuple[int, int]] = {}
        self.left_at: dict[int, int] = {}

    def play(self, packets: list[tuple[int, int, int, int]], draws: list[int]) -> list[int]:
        """Play the packets, and return when each was given to the kernel, in ns."""
        came, self._next_read = [], time.monotonic_ns()
        begin = (self._next_read + int(LEAD_S * 1e9)) // TICK_NS * TICK_NS
        for index, (offset, size, flow, ecn) in enumerate(packets):
            packet = bytearray(size)
            struct.pack_into("!BBHHHBBH8x", packet, 0, 0x45, ecn, size, 0, 0, 64, 17, 0)
            HOST.pack_into(packet, SOURCE_AT, flow % self._hosts)
            HOST.pack_into(packet, TARGET_AT, flow % self._hosts)
            FLOW.pack_into(packet, FLOW_AT, flow * self._step)
            INDEX.pack_into(packet, INDEX_AT, index)
            if draws:
                DRAW.pack_into(packet, DRAW_AT, draws[index])
            sender = self._sender(flow)
            self._sent[sender].append(index)
            self._wait(begin + offset)
            with contextlib.suppress(OSError):  # ENOBUFS: it was dropped
                sender.sendto(packet, (DEVICE, ETH_P_IP))
            came.append(self._came(sender))
        last, until = -1, time.monotonic_ns()
        while len(self.left) > last:
            last, until = len(self.left), until + SILENCE_NS
            self._wait(until)
        for sender in self._sent:
            with contextlib.suppress(BlockingIOError):
                self._came(sender)
        return came

    def _came(self, sender: socket.socket) -> int:
        """Return when the last packet of this socket was given to the kernel, and note when earlier ones left it."""
        while True:
            _, ancillary, _, _ = sender.recvmsg(0, 256, socket.MSG_ERRQUEUE)
            said = {kind: data for _, kind, data in ancillary}
            seconds, ns = TIMESPEC.unpack_from(said[SO_TIMESTAMPING])
            at, (what, number) = seconds * 10**9 + ns - self._ahead, STAMP_OF.unpack(said[PACKET_TX_TIMESTAMP])
            if what != DEPARTURE:
                return at
            self.left_at[self._sent[sender][number]] = at

    def _wait(self, until: int) -> None:
        while self._next_read < until:
            _sleep(self._next_read)
            self._read()
            self._next_read += NAP_NS
        _sleep(until)

    def _sender(self, flow: int) -> socket.socket:
        """Return the socket of a flow. A discipline with a queue for each flow puts its packets into the queue of that
        number."""
        if flow not in self._sockets:
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
            opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
            stamps = STAMP_WHEN_SCHEDULED | STAMP_BY_SOFTWARE | STAMP_ALONE
            if self._timed:
                stamps |= STAMP_WHEN_SENT | STAMP_NUMBERED
            opened.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, stamps)
            if self._handle:
                opened.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, self._handle << 16 | flow + 1)
            self._sockets[flow], self._sent[opened] = opened, []
        return self._sockets[flow]

    def _read(self) -> None:
        """Note the packets that have left."""
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(self._device, 4096)
                if packet[0] == 0x45 and packet[9] == 17:
                    (index,) = INDEX.unpack_from(packet, INDEX_AT)
                    self.left[index] = (len(self.left), int(packet[1] & 3 == 3))


def main(script: Path, result: Path) -> None:
    plan = json.loads(script.read_text())
    player = Player(plan["setup"], plan["handle"], plan["step"], plan["hosts"], timed=not plan["draws"])
    lines = ["{} {}\n".format(*player.made)]
    for index, at in enumerate(player.play(plan["packets"], plan["draws"])):
        place, marked = player.left.get(index, ("-", 0))
        lines.append(f"{at} {place} {marked} {player.left_at.get(index, 0)}\n")
    result.write_text("".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
