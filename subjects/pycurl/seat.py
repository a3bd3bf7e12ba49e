"""Places for connections, and the loop that keeps all of them going."""

import select
import time
from collections.abc import Callable

import pycurl
from samples import Sample
from transfer import Transfer

Ended = Callable[["Seat", Transfer, Sample], None]
"""Called when a request has ended."""


class Seat:
    """Room for one connection: a libcurl multi handle that may have no second one."""

    def __init__(self, loop: "Loop", streams: int) -> None:
        self._loop = loop
        self._transfers: dict[pycurl.Curl, Transfer] = {}
        self.deadline: float | None = None
        self.taken = False
        """Whether a request has been made here."""
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAX_HOST_CONNECTIONS, 1)
        self._multi.setopt(pycurl.M_MAX_CONCURRENT_STREAMS, streams)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._time)
        loop.seats.append(self)

    @property
    def busy(self) -> bool:
        return bool(self._transfers)

    def request(self, transfer: Transfer, phase: str) -> None:
        """Begins a request."""
        transfer.begin(phase, first=not self.taken)
        self.taken = True
        self._transfers[transfer.handle] = transfer
        self._multi.add_handle(transfer.handle)
        self.act(pycurl.SOCKET_TIMEOUT, 0)  # begins now, not when the loop comes round

    def act(self, socket: int, events: int) -> None:
        """Lets libcurl do what a socket, or the time, has made possible."""
        self._multi.socket_action(socket, events)

    def collect(self, ended: Ended) -> None:
        """Reports the requests that have ended. More may begin meanwhile, and end, too."""
        while True:
            left, succeeded, failed = self._multi.info_read()
            for handle in succeeded:
                self._end(handle, 0, "", ended)
            for handle, code, message in failed:
                self._end(handle, code, message, ended)
            if not left and not succeeded and not failed:
                return

    def _end(self, handle: pycurl.Curl, code: int, message: str, ended: Ended) -> None:
        transfer = self._transfers.pop(handle)
        sample = transfer.sample(code, message)
        self._multi.remove_handle(handle)
        ended(self, transfer, sample)

    def _watch(self, what: int, socket: int, *_unused: object) -> None:
        self._loop.watch(self, what, socket)

    def _time(self, milliseconds: int) -> None:
        self.deadline = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000


class Loop:
    """Waits for the sockets and timers of all seats."""

    def __init__(self) -> None:
        self.seats: list[Seat] = []
        self._epoll = select.epoll()
        self._owners: dict[int, Seat] = {}

    def watch(self, seat: Seat, what: int, socket: int) -> None:
        """What libcurl wants to know of a socket from now on."""
        if what == pycurl.POLL_REMOVE:
            if self._owners.pop(socket, None):
                self._epoll.unregister(socket)
            return
        events = select.EPOLLIN if what & pycurl.POLL_IN else 0
        events |= select.EPOLLOUT if what & pycurl.POLL_OUT else 0
        change = self._epoll.modify if socket in self._owners else self._epoll.register
        change(socket, events)
        self._owners[socket] = seat

    def run(self, ended: Ended) -> None:
        """Until no seat has a request under way."""
        while True:
            for seat in self.seats:
                if seat.deadline is not None and seat.deadline <= time.monotonic():
                    seat.deadline = None
                    seat.act(pycurl.SOCKET_TIMEOUT, 0)
                # Before any waiting: over a fast link a request may have ended while it was begun.
                seat.collect(ended)
            if not any(seat.busy for seat in self.seats):
                return
            for socket, events in self._epoll.poll(self._patience()):
                if seat := self._owners.get(socket):  # an event before may have closed it
                    seat.act(socket, _selected(events))

    def _patience(self) -> float | None:
        deadlines = [seat.deadline for seat in self.seats if seat.deadline is not None]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None


def _selected(events: int) -> int:
    readable = pycurl.CSELECT_IN if events & (select.EPOLLIN | select.EPOLLHUP) else 0
    writable = pycurl.CSELECT_OUT if events & select.EPOLLOUT else 0
    broken = pycurl.CSELECT_ERR if events & select.EPOLLERR else 0
    return int(readable | writable | broken)
