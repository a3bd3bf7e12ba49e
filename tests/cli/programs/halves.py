"""HTTP/1.1 that sends head and body in two writes: `halves.py apart` with Nagle's algorithm, `together` without it."""

import socket
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"x" * 800


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = sys.argv[1] == "together"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
Server(("0.0.0.0", 8443), Handler).serve_forever()
