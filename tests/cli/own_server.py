"""A person's own server, as such are: HTTPS over HTTP/1.1 on port 8443, with a fault that its argument names."""

import gzip
import os
import socket
import ssl
import sys
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"x" * 5000
FAULT = sys.argv[1] if len(sys.argv) > 1 else ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        match FAULT:
            case "500" | "429":
                self.answer(int(FAULT), BODY)
            case "redirect":
                self.answer(302, b"", Location="https://login.example.org/")
            case "password":
                self.answer(401, b"", WWW_Authenticate='Basic realm="orders"')
            case "forbidden":
                self.answer(403, b"")
            case "compress":
                self.answer(200, gzip.compress(BODY), Content_Encoding="gzip")
            case "endless":
                self.stream()
            case _:
                self.answer(200, BODY)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self) -> None:
        """Events, for as long as somebody listens."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            self.wfile.write(b"6\r\ndata\r\n\r\n")
            time.sleep(0.05)

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    if FAULT == "die":
        sys.exit("cannot read my configuration")
    if FAULT == "daemon" and os.fork():
        return
    if FAULT == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("server.sock")
            listening.listen()
            time.sleep(60)
    if FAULT == "first":
        hang_up(2.0)
    server = ThreadingHTTPServer(("127.0.0.1" if FAULT == "localhost" else "0.0.0.0", 8443), Handler)
    if FAULT != "plain":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("cert.pem", "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    if FAULT == "late":
        time.sleep(3)
    server.serve_forever()


def hang_up(seconds: float) -> None:
    """On whoever calls, as a server does that has no certificate yet."""
    until = time.monotonic() + seconds
    with socket.create_server(("0.0.0.0", 8443)) as listening:
        listening.settimeout(0.1)
        while time.monotonic() < until:
            with suppress(TimeoutError):
                listening.accept()[0].close()


main()
