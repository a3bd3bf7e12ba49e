"""What server and client have in common: bodies that aioquic gets in pieces. It would take any number at once."""

from aioquic.asyncio import QuicConnectionProtocol

AHEAD = 256 * 1024
"""Bytes of a stream that wait in aioquic to be sent."""


class Feeding(QuicConnectionProtocol):
    """A connection that gives aioquic more of a body as it gets rid of what it had."""

    def unfinished(self) -> list[int]:
        """Streams with more to send."""
        raise NotImplementedError

    def send_piece(self, stream: int) -> bool:
        """Hands the next piece over. False: the stream has been ended."""
        raise NotImplementedError

    def transmit(self) -> None:
        self._feed()
        super().transmit()
        while self._feed():  # what was sent has made room
            super().transmit()

    def waiting(self, stream: int) -> int:
        """Bytes of a stream that were never sent. aioquic keeps this to itself."""
        sender = self._quic._streams[stream].sender
        return sender._buffer_stop - sender.highest_offset

    def _feed(self) -> bool:
        """Hands over more of each body that has been sent nearly as far as it was handed over. False if none was."""
        fed = False
        for stream in self.unfinished():
            while self.waiting(stream) < AHEAD:
                fed = True
                if not self.send_piece(stream):
                    break
        return fed
