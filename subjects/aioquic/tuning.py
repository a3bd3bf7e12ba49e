"""What server and client set alike, so that it is not what a comparison finds: the windows of the other subjects."""

CONTROLLERS = ("cubic", "reno")
STREAM_WINDOW, CONNECTION_WINDOW = 6 << 20, 15 << 20
SOCKET_BUFFER = 7_500_000
"""Of the UDP socket, as far as the machine allows."""
IDLE_S = 300.0
