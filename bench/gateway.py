"""Measures how much delay the gateway to a server that runs elsewhere adds, and whether it loses anything.

    PYTHONPATH=src .venv/bin/python bench/gateway.py [--runs 21] [--datagrams 200000]

The gateway itself measures what it adds to a round trip whenever it starts (docs/contracts/gateway.md). This program
prints the medians over the runs (bar: 0.1 ms over TCP and over UDP).

Then it sends numbered datagrams of 1200 bytes through the gateway to an echo server, in batches that the kernel splits
(GSO), as QUIC stacks do. No more are under way than sockets can hold. Each datagram that does not come back is lost
(bar: none). tests/cli/test_elsewhere.py checks that HTTP/3 works, and that nothing is left of the gateway after `kill
-9`.
"""

import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

LAB = Path(__file__).resolve().parents[1] / "lab/target/release/h123-lab"
UDP_SEGMENT, UDP_GRO, SO_RCVBUFFORCE = 103, 104, 33
"""Of Linux; the module socket does not name them."""
SIZE, BATCH, UNDER_WAY = 1200, 32, 256
BAR_NS = 100_000
PATIENCE_S = 5.0


def udp() -> socket.socket:
    """Return a socket on the machine's loopback, with enough buffer for all datagrams under way."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    made.bind(("127.0.0.1", 0))
    return made


def echo(on: socket.socket, batches: list[int]) -> None:
    """Send every datagram back to its sender, and note how many arrived together."""
    on.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
    while True:
        data, control, _, sender = on.recvmsg(1 << 16, socket.CMSG_SPACE(4))
        size = next((struct.unpack("i", value)[0] for _, kind, value in control if kind == UDP_GRO), len(data))
        batches.append(-(-len(data) // size) if size else 0)
        segmented = [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", size))] if size < len(data) else []
        on.sendmsg([data], segmented, 0, sender)


@contextmanager
def gateway(to: tuple[str, int], folder: Path) -> Iterator[tuple[tuple[str, int], dict[str, dict[str, int]]]]:
    """Run the gateway while the context is open. Yield its address and what it measured about itself."""
    with udp() as free:
        at = free.getsockname()
    namespace = os.open("/proc/self/ns/net", os.O_RDONLY)
    where = ["--at", f"{at[0]}:{at[1]}", "--to", f"{to[0]}:{to[1]}", "--facts", str(folder / "gateway.json")]
    running = subprocess.Popen(
        [str(LAB), "gateway", *where],
        env={**os.environ, "H123_OUTSIDE": str(namespace)},
        pass_fds=[namespace],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout
        if "ready" not in running.stdout.readline():
            raise SystemExit("the gateway did not start")
        yield at, json.loads((folder / "gateway.json").read_text())
    finally:
        running.kill()
        running.wait()
        os.close(namespace)


def lost(at: tuple[str, int], datagrams: int) -> int:
    """Send datagrams through the gateway and return how many were lost."""
    back: set[int] = set()
    with udp() as client:
        client.connect(at)
        client.settimeout(PATIENCE_S)
        for first in range(0, datagrams, BATCH):
            numbers = range(first, min(first + BATCH, datagrams))
            data = b"".join(struct.pack("Q", number) + bytes(SIZE - 8) for number in numbers)
            client.sendmsg([data], [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", SIZE))])
            while numbers[-1] + 1 - len(back) > UNDER_WAY and receive(client, back):
                pass
        while len(back) < datagrams and receive(client, back):
            pass
    return datagrams - len(back)


def receive(client: socket.socket, back: set[int]) -> bool:
    """Receive a datagram and note its number. Return whether one arrived in time."""
    try:
        data = client.recv(1 << 16)
    except TimeoutError:
        return False
    back.add(struct.unpack_from("Q", data)[0])
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--datagrams", type=int, default=200_000)
    asked = parser.parse_args()
    added: dict[str, list[int]] = {"tcp": [], "udp": []}
    batches: list[int] = []
    with udp() as server, tempfile.TemporaryDirectory() as scratch:
        threading.Thread(target=echo, args=(server, batches), daemon=True).start()
        for _ in range(asked.runs):
            with gateway(server.getsockname(), Path(scratch)) as (at, facts):
                for name, values in added.items():
                    values.append(facts[name]["through_ns"] - facts[name]["without_ns"])
        batches.clear()
        with gateway(server.getsockname(), Path(scratch)) as (at, _):
            batches.clear()
            gone = lost(at, asked.datagrams)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for name, values in added.items():
        most = max(values) / 1000
        print(
            f"{name}: {median(values) / 1000:.0f} us added to a round trip (median of {len(values)}; most {most:.0f})"
        )
    together = sum(batches) / max(1, len(batches))
    print(
        f"datagrams: {gone} of {asked.datagrams} lost; {together:.1f} came together at the server, {BATCH} were sent so"
    )
    return 0 if gone == 0 and together > 1 and all(median(values) <= BAR_NS for values in added.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
