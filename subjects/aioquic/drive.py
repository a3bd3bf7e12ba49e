"""The client: carries a workload out over HTTP/3 and writes samples.csv and client.json."""

import asyncio
import json
import socket
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

import aioquic
from aioquic.h3.connection import H3_ALPN
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.tls import CipherSuite
from contract import UNSUPPORTED
from samples import Sample, write_samples
from sending import FLAGS, datagram, send_as
from session import Broken, Session
from tuning import AIOQUIC_CONTROLLERS, CONNECTION_WINDOW, IDLE_S, SOCKET_BUFFER, STREAM_WINDOW
from workload import Refusal, Workload, read_workload


class Seat:
    """A place for one connection: empty at first, and after its connection has broken."""

    def __init__(self, drive: "Drive") -> None:
        self._drive = drive
        self._turn = asyncio.Lock()
        self._session: Session | None = None

    async def take(self) -> Session:
        """The connection, dialled if need be. Raises Broken."""
        async with self._turn:
            if self._session is None or self._session.broken:
                self._session = await self._drive.dial()
            return self._session


class Drive:
    """A workload being carried out."""

    def __init__(self, workload: Workload, congestion: str, datagram: int) -> None:
        self.samples: list[Sample] = []
        self._workload = workload
        self._congestion = congestion
        self._datagram = datagram
        self._seats = [Seat(self) for _ in range(workload.seats)]
        self._sessions: list[Session] = []

    async def run(self) -> None:
        """All requests: the cold ones one connection after another, then all users at once."""
        if self._workload.cold:
            for number, seat in enumerate(self._seats):
                users = self._workload.users
                await self._request(seat, "cold", number % users, self._workload.number(users, number))
        await asyncio.gather(*(self._user(user) for user in range(self._workload.users)))
        for session in self._sessions:
            session.abandon()

    async def dial(self) -> Session:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
        address = (self._workload.address, self._workload.port)
        udp.connect(address)  # or nobody would tell that the port is closed
        quic = QuicConnection(configuration=self._configuration())
        _, session = await asyncio.get_running_loop().create_datagram_endpoint(lambda: Session(quic), sock=udp)
        try:
            await session.open(address)
        except BaseException:
            session.abandon()
            raise
        session.index = len(self._sessions)
        self._sessions.append(session)
        return session

    def facts(self) -> dict[str, Any]:
        # aioquic does not keep which of the groups that it offers the server has chosen.
        tls = {"version": "1.3", "key_exchange": "", "alpn": "h3"}
        ciphers = Counter(session.cipher for session in self._sessions)
        return {
            "h123": "client/1",
            "tls": [{**tls, "cipher": cipher, "connections": count} for cipher, count in ciphers.items()],
            "congestion": self._congestion if self._sessions else None,
            "notes": [f"aioquic {aioquic.__version__}"],
        }

    async def _user(self, user: int) -> None:
        seat = self._seats[user % len(self._seats)]
        for n in range(self._workload.per_user):
            await self._request(seat, self._workload.phase(n), user, self._workload.number(user, n))

    async def _request(self, seat: Seat, phase: str, user: int, number: int) -> None:
        sample = Sample(phase, user, start_ns=time.monotonic_ns())
        try:
            async with asyncio.timeout(self._workload.timeout_ns / 1e9):
                session = await seat.take()
                sample.connection, sample.protocol, sample.reused = session.index, "h3", int(session.served > 0)
                sample.connected_ns = session.ready_ns if phase == "cold" else None
                await session.perform(self._workload, sample, number)
            if not 200 <= sample.status <= 299:
                sample.error = f"other: status {sample.status}"
        except TimeoutError:
            sample.error = "timeout"
        except Broken as broken:
            sample.error = str(broken)
        sample.end_ns = time.monotonic_ns()
        self.samples.append(sample)

    def _configuration(self) -> QuicConfiguration:
        """As other clients here: AES-128, and every handshake a full one."""
        return QuicConfiguration(
            alpn_protocols=H3_ALPN,
            congestion_control_algorithm=self._congestion,
            max_datagram_size=self._datagram,
            idle_timeout=IDLE_S,
            max_data=CONNECTION_WINDOW,
            max_stream_data=STREAM_WINDOW,
            server_name=self._workload.host,
            cafile=self._workload.ca,
            cipher_suites=[CipherSuite.AES_128_GCM_SHA256],
        )


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    for name in ("workload", "samples", "facts", *FLAGS):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    try:
        workload = read_workload(asked.workload)
        if workload.protocol != "h3" or asked.congestion not in AIOQUIC_CONTROLLERS:
            raise Refusal(UNSUPPORTED, f"no {workload.protocol} with {asked.congestion} here")
        if workload.rate is not None:
            raise Refusal(UNSUPPORTED, "no open loop here: the timers of asyncio know only milliseconds")
    except Refusal as refusal:
        print(f"h123-aioquic: {refusal}", file=sys.stderr)
        return refusal.status
    send_as(asked)
    facts = asyncio.run(carry_out(Drive(workload, asked.congestion, datagram(asked)), asked.samples))
    Path(asked.facts).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 0


async def carry_out(drive: Drive, samples: str) -> dict[str, Any]:
    await drive.run()
    write_samples(samples, drive.samples)
    return drive.facts()


if __name__ == "__main__":
    sys.exit(main())
