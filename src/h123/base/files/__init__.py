"""Reads and writes files safely: writes survive crashes, sizes are limited, and input is not trusted."""

__all__ = [
    "durable",
    "installation",
    "journal",
    "jsontext",
    "lock",
    "output",
    "scratch",
    "sizes",
    "textfile",
    "tree",
]
