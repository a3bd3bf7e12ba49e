"""Serves 300 kB over HTTPS, late or with few requests per connection, for bench/tune.py. It imports only what it needs.

python3 bench/tune_server.py CERTIFICATE KEY DELAY_MS REQUESTS_PER_CONNECTION [anything]
"""

import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CERTIFICATE, KEY, DELAY_MS, REQUESTS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SIZE = 300_000


class Late(BaseHTTPRequestHandler):
    """Waits, then sends the body."""

    protocol_version = "HTTP/1.1"
    answered = 0
    """The number of requests that this connection has had."""

    def do_GET(self) -> None:
        """Answer a request."""
        self.answered += 1
        time.sleep(DELAY_MS / 1000)
        self.send_response(200)
        self.send_header("Content-Length", str(SIZE))
        if self.answered == REQUESTS:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(bytes(SIZE))

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server = ThreadingHTTPServer(("0.0.0.0", 8443), Late)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
