"""ending.py silent|old CERT KEY: HTTP/1.1 over TLS that closes connections without a word, or as HTTP/1.0 does."""

import contextlib
import socket
import ssl
import sys
import threading
import time

HOW, CERT, KEY = sys.argv[1:]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" if HOW == "silent" else b"HTTP/1.0 200 OK\r\n\r\n"


def serve(connection: ssl.SSLSocket) -> None:
    with connection, contextlib.suppress(OSError):
        for _ in range(3 if HOW == "silent" else 1):
            request = b""
            while not request.endswith(b"\r\n\r\n"):
                if not (more := connection.recv(65536)):
                    return
                request += more
            connection.sendall(HEAD + b"x" * 1000)
        if HOW == "silent":
            time.sleep(0.02)  # in which the next request comes, and is not read
        else:
            connection.unwrap()


def main() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERT, KEY)
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        print(listening.getsockname()[1], flush=True)
        while True:
            accepted = listening.accept()[0]
            with contextlib.suppress(OSError):
                threading.Thread(
                    target=serve, args=(context.wrap_socket(accepted, server_side=True),), daemon=True
                ).start()


main()
