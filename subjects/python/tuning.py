"""What servers and clients in Python set alike, and as other subjects do, so that it is not what a comparison finds."""

STREAM_WINDOW, CONNECTION_WINDOW = 6 << 20, 15 << 20
"""How much may come in unasked."""
STREAMS = 1000
"""Requests under way at once on a connection, where that can be set: aioquic has 128."""
SOCKET_BUFFER = 7_500_000
"""Of the UDP socket, as far as the machine allows."""
IDLE_S = 300.0
"""Until a connection without traffic is given up."""
AIOQUIC_CONTROLLERS = ("cubic", "reno")
