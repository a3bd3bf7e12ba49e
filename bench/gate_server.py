"""A server whose requests take a given processor time, for bench/gate.py: HTTPS over HTTP/1.1 on port 8443.

    python gate_server.py CERTIFICATE KEY WORK

WORK is the number of kilobytes that the server hashes for each request.
"""

import hashlib
import ssl
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

PIECE = bytes(1000)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes: the body would wait for a late acknowledgement
    work = 0

    def do_GET(self) -> None:
        digest = hashlib.sha256()
        for _ in range(self.work):
            digest.update(PIECE)
        body = digest.hexdigest().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def main(certificate: str, key: str, work: str) -> None:
    Handler.work = int(work)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = HTTPServer(("0.0.0.0", 8443), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


main(*sys.argv[1:])
