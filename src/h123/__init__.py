"""h123 measures HTTP/1.1, HTTP/2 and HTTP/3 side by side, over the networks that people have."""

__version__ = "0.2.0"
