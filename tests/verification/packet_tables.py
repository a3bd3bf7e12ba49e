"""Tables of packets as the lab records them, made up: of a sender whose windows are known."""

from collections.abc import Iterable, Sequence

import numpy as np

from h123.packets.capture import DELIVERED, LOST, PACKET, TCP, UDP, Packets

MS = 1_000_000
TRIP = 100 * MS
HEADERS = {TCP: 52, UDP: 28}
SIZE = 1400


class Table:
    """Packets over a link of TRIP, in any order; the receiver answers each at once."""

    def __init__(self, way: int = 1, protocol: int = TCP) -> None:
        self.way, self.protocol = way, protocol
        self._rows = list[tuple[int, int, int, int, int]]()

    def packet(self, at: float, payload: int = SIZE, *, way: int | None = None, lost: bool = False) -> None:
        """One packet that nobody answers."""
        begin = round(at)
        way = self.way if way is None else way
        self._rows.append((begin, 0 if lost else begin + TRIP // 2, payload, way, LOST if lost else DELIVERED))

    def data(self, at: float, payload: int = SIZE, *, lost: bool = False) -> None:
        """One of the sender's, and its acknowledgement."""
        self.packet(at, payload, lost=lost)
        if not lost:
            self.packet(round(at) + TRIP // 2, 0 if self.protocol == TCP else 30, way=1 - self.way)

    def handshake(self) -> None:
        """Of TCP and TLS; the server's answer to the request can be sent after two and a half round trips."""
        client, server = 0, 1
        for at, payload, way in [
            (0, 0, client),
            (0.5, 0, server),
            (1, 0, client),
            (1, 300, client),
            (1.5, 900, server),
        ]:
            self.packet(at * TRIP, payload, way=way)
        for payload in (0, 80, 120):
            self.packet(2 * TRIP, payload, way=client)

    def flights(self, windows: Iterable[int], begin: float = 2.5, spread: float = 0.0, size: int = SIZE) -> None:
        """So many packets in each round trip from `begin`, over this share of it."""
        for trip, count in enumerate(windows):
            for number in range(count):
                self.data((begin + trip + spread * number / count) * TRIP, size)

    def packets(self) -> Packets:
        """What read_packets returns."""
        rows = sorted(self._rows)
        table = np.zeros(len(rows), PACKET)
        for name, column in zip(("at_ns", "left_ns", "payload", "way", "fate"), zip(*rows, strict=True), strict=True):
            table[name] = column
        table["protocol"] = self.protocol
        table["source"][table["way"] == 0] = table["destination"][table["way"] == 1] = 5000
        table["bytes"] = table["payload"] + HEADERS[self.protocol]
        return table


def opened(way: int = 1, protocol: int = TCP) -> Table:
    """A table that begins with a handshake."""
    table = Table(way, protocol)
    table.handshake()
    return table


def doubling(first: int, times: int) -> list[int]:
    """Windows of slow start."""
    return [first << time for time in range(times)]


def of_flights(windows: Sequence[int], spread: float = 0.0, way: int = 1, protocol: int = TCP) -> Packets:
    """A handshake and these windows."""
    table = opened(way, protocol)
    table.flights(windows, spread=spread)
    return table.packets()
