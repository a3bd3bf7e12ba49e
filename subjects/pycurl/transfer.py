"""One user's requests: a libcurl handle that is used again and again."""

import os
import socket
import time

import pycurl
from comparison import Comparison
from contract import BLOCK
from facts import Facts
from samples import Sample
from tuning import SOCKET_BUFFER
from workload import Workload

VERSIONS = {
    "h1": pycurl.CURL_HTTP_VERSION_1_1,
    "h2": pycurl.CURL_HTTP_VERSION_2TLS,
    "h3": pycurl.CURL_HTTP_VERSION_3ONLY,
    "h3-or-h2": pycurl.CURL_HTTP_VERSION_3,  # races: TCP begins when QUIC has failed, or is slow to answer
}
_NEGOTIATED = {VERSIONS["h1"]: "h1", pycurl.CURL_HTTP_VERSION_2_0: "h2", pycurl.CURL_HTTP_VERSION_3: "h3"}
_FAILURES = {
    "timeout": {28},  # OPERATION_TIMEDOUT
    "refused": {7},  # COULDNT_CONNECT
    "tls": {35, 60, 77},  # SSL_CONNECT_ERROR, PEER_FAILED_VERIFICATION, SSL_CACERT_BADFILE
    "protocol": {1, 8, 16, 95},  # UNSUPPORTED_PROTOCOL, WEIRD_SERVER_REPLY, HTTP2, HTTP3
    "reset": {18, 52, 55, 56, 92},  # PARTIAL_FILE, GOT_NOTHING, SEND_ERROR, RECV_ERROR, HTTP2_STREAM
}
"""libcurl's codes (CURLE_...), of which pycurl names only some."""


OK = 200


class Transfer:
    """A handle, and the request that it makes at the moment."""

    def __init__(self, workload: Workload, user: int, facts: Facts) -> None:
        self.user = user
        self.phase = ""
        self.number = 0
        """Of the next request."""
        self._start = 0
        self._sent_body = 0
        self._upload = workload.upload_bytes
        self._workload = workload
        self._facts = facts
        self._first = False
        self._held = Comparison()
        self._address = f"{workload.host}:{workload.port}:{workload.address}"
        self.handle = self._prepared(workload)

    def begin(self, phase: str, *, first: bool) -> None:
        """Takes the time: the request is due now. It is the first of its seat, or not."""
        self.phase = phase
        self._sent_body = 0
        self._held = Comparison()
        self._first = first
        self.handle.setopt(pycurl.VERBOSE, first)  # the facts are told of its handshake
        if first:  # each seat keeps names of its own, and a handle tells its only once
            self.handle.setopt(pycurl.RESOLVE, [self._address])
        if self._workload.headers:
            self.handle.setopt(pycurl.HTTPHEADER, self._headers())
        self._start = time.monotonic_ns()

    def sample(self, code: int, message: str) -> Sample:
        """The request that has just ended, with libcurl's code for how."""
        end, info = time.monotonic_ns(), self.handle.getinfo
        if self._first:
            self._facts.look(self.handle)
        status = info(pycurl.RESPONSE_CODE)
        # Without an answer libcurl gives numbers all the same: the time of the failure, a connection that never was.
        answered = status != 0
        sent, first_byte = self._at(pycurl.POSTTRANSFER_TIME_T), self._at(pycurl.STARTTRANSFER_TIME_T)
        if sent and first_byte and sent > first_byte:
            sent = None  # libcurl took the answer in before it noted that all was sent
        return Sample(
            phase=self.phase,
            user=self.user,
            start_ns=self._start,
            connected_ns=self._at(pycurl.APPCONNECT_TIME_T) if self.phase == "cold" else None,
            sent_ns=sent if answered else None,
            first_byte_ns=first_byte if answered else None,
            end_ns=end,
            status=status,
            bytes_up=info(pycurl.SIZE_UPLOAD_T),
            bytes_down=info(pycurl.SIZE_DOWNLOAD_T),
            protocol=_NEGOTIATED.get(info(pycurl.INFO_HTTP_VERSION), ""),
            connection=info(pycurl.CONN_ID) if answered else None,
            reused=int(answered and info(pycurl.NUM_CONNECTS) == 0),
            error=_failure(code, message, status) or ("wrong-bytes" if status == OK and self._held.wrong else ""),
        )

    def _at(self, duration: int) -> int | None:
        """A time that libcurl counts from the request's start in microseconds; it says 0 for what has not been."""
        microseconds = self.handle.getinfo(duration)
        return self._start + microseconds * 1000 if microseconds else None

    def _prepared(self, workload: Workload) -> pycurl.Curl:
        handle = pycurl.Curl()
        handle.setopt(pycurl.URL, f"https://{workload.host}:{workload.port}{workload.path}")
        handle.setopt(pycurl.HTTP_VERSION, VERSIONS[workload.protocol])
        handle.setopt(pycurl.PIPEWAIT, 1)
        handle.setopt(pycurl.TIMEOUT_MS, max(1, workload.timeout_ns // 1_000_000))
        handle.setopt(pycurl.USERAGENT, "h123")
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.BUFFERSIZE, 102400)  # the curl tool's
        # What is not compared goes to a function in C that takes bytes and returns how many.
        handle.setopt(pycurl.WRITEFUNCTION, self._take if workload.compares else len)
        handle.setopt(pycurl.DEBUGFUNCTION, self._heard)
        handle.setopt(pycurl.SOCKOPTFUNCTION, _widen)
        _pin_tls(handle, workload.ca)
        if workload.method == "POST":
            handle.setopt(pycurl.POST, 1)
            handle.setopt(pycurl.POSTFIELDSIZE_LARGE, workload.upload_bytes)
            handle.setopt(pycurl.READFUNCTION, self._read)
            handle.setopt(pycurl.HTTPHEADER, self._headers())
        return handle

    def _headers(self) -> list[str]:
        """Of the next request. No waiting for "100 Continue", which only HTTP/1.1 would do; no type that forms have."""
        upload = {"content-type": "application/octet-stream"} if self._workload.method == "POST" else {}
        named = {**upload, **self._workload.named(self.number)}
        return [*(["Expect:"] if upload else []), *(f"{name}: {value}" for name, value in named.items())]

    def _read(self, room: int) -> bytes:
        at = self._sent_body % len(BLOCK)
        part = BLOCK[at : at + min(room, self._upload - self._sent_body)]
        self._sent_body += len(part)
        return part

    def _take(self, data: bytes) -> None:
        self._held.take(data)

    def _heard(self, kind: int, text: bytes) -> None:
        if kind == pycurl.INFOTYPE_TEXT:
            self._facts.hear(text.decode(errors="replace"))


def _widen(descriptor: int, _purpose: int) -> int:
    """libcurl leaves its sockets of QUIC the kernel's own buffer, which a burst of datagrams overflows."""
    with socket.socket(fileno=os.dup(descriptor)) as opened:
        if opened.type == socket.SOCK_DGRAM:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
    return int(pycurl.SOCKOPT_OK)


def _pin_tls(handle: pycurl.Curl, ca: str) -> None:
    """As other clients here: TLS 1.3, X25519, AES-128, and every handshake a full one."""
    handle.setopt(pycurl.CAINFO, ca)
    handle.setopt(pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_3)
    handle.setopt(pycurl.SSL_EC_CURVES, "X25519")
    handle.setopt(pycurl.TLS13_CIPHERS, "TLS_AES_128_GCM_SHA256")
    handle.setopt(pycurl.SSL_SESSIONID_CACHE, 0)


def _failure(code: int, message: str, status: int) -> str:
    if code:
        words = (word for word, codes in _FAILURES.items() if code in codes)
        return next(words, f"other: curl {code}: {message}")
    return "" if 200 <= status <= 299 else f"other: status {status}"
