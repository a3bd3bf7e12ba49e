"""The application behind the reverse proxy."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ORDERS = b"0123456789" * 2000


class Orders(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(ORDERS)))
        self.end_headers()
        self.wfile.write(ORDERS)

    def log_message(self, format: str, *args: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", 8080), Orders).serve_forever()
