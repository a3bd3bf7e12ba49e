"""HTTP/1.1 that answers 200 with so many bytes: `sizes.py SIZE [HTTP/1.0]`."""

import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = sys.argv[2] if len(sys.argv) > 2 else "HTTP/1.1"

    def do_GET(self) -> None:
        size = int(sys.argv[1])
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(b"x" * size)

    def log_message(self, format: str, *args: object) -> None:
        pass


server = ThreadingHTTPServer(("0.0.0.0", 8443), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
