"""The HTTP/3 of one connection, as a server, by aioquic's H3Connection. Requests come in, answers go out in pieces."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aioquic.h3.connection import H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.events import QuicEvent, StopSendingReceived, StreamReset
from contract import answer


@dataclass
class Request:
    method: str
    path: str
    received: int = 0
    """Bytes of its body so far."""


class Exchange:
    """What is asked and answered on a connection. Who owns it asks for pieces as there is room for them."""

    def __init__(self, quic: Any) -> None:
        self._http = H3Connection(quic)
        self._requests: dict[int, Request] = {}
        self._answers: dict[int, Iterator[bytes]] = {}

    def receive(self, event: QuicEvent) -> None:
        """Takes in what QUIC tells; the header of an answer is sent as soon as its request has ended."""
        if isinstance(event, StreamReset | StopSendingReceived):
            self._requests.pop(event.stream_id, None)
            self._answers.pop(event.stream_id, None)
        for part in self._http.handle_event(event):
            self._take(part)

    def unfinished(self) -> list[int]:
        """Streams whose answers have not been sent to their end."""
        return list(self._answers)

    def send_piece(self, stream: int) -> bool:
        """Sends the next piece of an answer. False: that was its end."""
        piece = next(self._answers[stream], None)
        if piece is not None:
            self._http.send_data(stream, piece, end_stream=False)
            return True
        del self._answers[stream]
        self._http.send_data(stream, b"", end_stream=True)
        return False

    def _take(self, part: H3Event) -> None:
        match part:
            case HeadersReceived(headers=headers, stream_id=stream) if stream not in self._requests:
                fields = dict(headers)
                self._requests[stream] = Request(fields[b":method"].decode(), fields[b":path"].decode())
            case DataReceived(data=data, stream_id=stream) if stream in self._requests:
                self._requests[stream].received += len(data)
            case _:
                return
        if part.stream_ended:
            self._begin(part.stream_id)

    def _begin(self, stream: int) -> None:
        request = self._requests.pop(stream)
        reply = answer(request.method, request.path, request.received)
        headers = [
            (b":status", str(reply.status).encode()),
            (b"content-type", b"application/octet-stream"),
            (b"content-length", str(reply.length).encode()),
        ]
        self._http.send_headers(stream, headers)
        self._answers[stream] = reply.body
