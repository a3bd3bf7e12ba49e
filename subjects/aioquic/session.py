"""One connection of the client, and the requests on it."""

import asyncio
import time
from typing import Any

from aioquic.h3.connection import ErrorCode, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, QuicEvent, StreamReset
from aioquic.quic.packet import QuicErrorCode
from aioquic.tls import AlertDescription
from comparison import Comparison
from contract import pieces
from feeding import Feeding
from samples import Sample
from workload import Workload

OK = 200
_CRYPTO_ERRORS = range(QuicErrorCode.CRYPTO_ERROR, QuicErrorCode.CRYPTO_ERROR + 0x100)


class Broken(Exception):
    """Ends a request; its text is in the words of the contract."""


class Request:
    """A request under way: what it has yet to send, and what is seen of it."""

    def __init__(self, workload: Workload, sample: Sample) -> None:
        self.sample = sample
        self.body = pieces(workload.upload_bytes) if workload.upload_bytes else None
        """What is left of it; None: all handed over."""
        self.held = Comparison() if workload.compares else None
        self.ended = asyncio.get_running_loop().create_future()

    def take(self, part: H3Event) -> None:
        """A part of the answer."""
        match part:
            case HeadersReceived(headers=headers):
                self.sample.first_byte_ns = self.sample.first_byte_ns or time.monotonic_ns()
                self.sample.status = int(dict(headers).get(b":status", self.sample.status))
            case DataReceived(data=data):
                self.sample.bytes_down += len(data)
                if self.held:
                    self.held.take(data)
        if part.stream_ended and not self.ended.done():
            self.ended.set_result(None)

    @property
    def wrong(self) -> bool:
        """Whether the answer's body has not the bytes that it should have."""
        return self.sample.status == OK and self.held is not None and self.held.wrong

    def fail(self, broken: Broken) -> None:
        if not self.ended.done():
            self.ended.set_exception(broken)


class Session(Feeding):
    """A connection to the server."""

    def __init__(self, quic: QuicConnection, **given: Any) -> None:
        super().__init__(quic, **given)
        self.index: int | None = None
        self.served = 0
        """Requests begun on it."""
        self.ready_ns: int | None = None
        """When the handshake was complete."""
        self.broken: Broken | None = None
        self._http: H3Connection | None = None
        self._requests: dict[int, Request] = {}
        self._ready = asyncio.get_running_loop().create_future()

    async def open(self, address: tuple[str, int]) -> None:
        """Makes the handshake. Raises Broken."""
        self.connect(address)
        await self._ready

    async def perform(self, workload: Workload, sample: Sample, number: int) -> None:
        """Makes the request of this number and fills in what is seen of it. Raises Broken; may be cancelled."""
        if self.broken:
            raise self.broken
        self.served += 1
        stream = self._quic.get_next_available_stream_id()
        request = self._requests[stream] = Request(workload, sample)
        self._http.send_headers(stream, _headers(workload, number), end_stream=request.body is None)
        self.transmit()
        try:
            await request.ended
        except asyncio.CancelledError:
            self._give_up(stream)
            raise
        finally:
            del self._requests[stream]
        if request.wrong:
            raise Broken("wrong-bytes")

    def abandon(self) -> None:
        """Says farewell, and does not wait for an answer."""
        self.close()
        self._transport.close()

    @property
    def cipher(self) -> str:
        return f"TLS_{self._quic.tls.key_schedule.cipher_suite.name}"

    def quic_event_received(self, event: QuicEvent) -> None:
        match event:
            case HandshakeCompleted():
                self.ready_ns = time.monotonic_ns()
                self._http = H3Connection(self._quic)
                self._ready.set_result(None)
            case ConnectionTerminated(error_code=code, frame_type=None):
                # HTTP/3's codes, some of which are TLS's as well.
                self._break(Broken("reset" if code == ErrorCode.H3_NO_ERROR else "protocol"))
            case ConnectionTerminated(error_code=code):
                self._break(Broken(_in_words(code)))
            case StreamReset(stream_id=stream) if stream in self._requests:
                self._requests[stream].fail(Broken("reset"))
        for part in self._http.handle_event(event) if self._http else ():
            if part.stream_id in self._requests:
                self._requests[part.stream_id].take(part)

    def error_received(self, error: OSError) -> None:
        """The address answers that nobody listens there."""
        if isinstance(error, ConnectionRefusedError):
            self._break(Broken("refused"))

    def unfinished(self) -> list[int]:
        return [stream for stream, request in self._requests.items() if request.body is not None]

    def send_piece(self, stream: int) -> bool:
        request = self._requests[stream]
        piece = next(request.body, b"")
        if not piece:
            request.body = None
        request.sample.bytes_up += len(piece)
        self._http.send_data(stream, piece, end_stream=not piece)
        return bool(piece)

    def transmit(self) -> None:
        super().transmit()
        for stream, request in self._requests.items():
            if request.sample.sent_ns is None and request.body is None and not self.waiting(stream):
                request.sample.sent_ns = time.monotonic_ns()

    def _give_up(self, stream: int) -> None:
        self._requests[stream].body = None
        self._quic.reset_stream(stream, ErrorCode.H3_REQUEST_CANCELLED)
        self._quic.stop_stream(stream, ErrorCode.H3_REQUEST_CANCELLED)
        super().transmit()

    def _break(self, broken: Broken) -> None:
        self.broken = self.broken or broken
        if not self._ready.done():
            self._ready.set_exception(broken)
        for request in self._requests.values():
            request.fail(broken)


def _headers(workload: Workload, number: int) -> list[tuple[bytes, bytes]]:
    headers = [
        (b":method", workload.method.encode()),
        (b":scheme", b"https"),
        (b":authority", workload.host.encode()),
        (b":path", workload.path.encode()),
    ]
    if workload.method == "POST":
        headers.append((b"content-length", str(workload.upload_bytes).encode()))
    named = {"user-agent": "h123", **workload.named(number)}
    return [*headers, *((name.encode(), value.encode()) for name, value in named.items())]


def _in_words(code: int) -> str:
    """The contract's word for what ended a connection."""
    if code == QuicErrorCode.CONNECTION_REFUSED:
        return "refused"
    if code == QuicErrorCode.CRYPTO_ERROR + AlertDescription.no_application_protocol:
        return "protocol"
    if code in _CRYPTO_ERRORS:
        return "tls"
    if code in (QuicErrorCode.NO_ERROR, QuicErrorCode.INTERNAL_ERROR):
        return "reset"
    return "protocol"
