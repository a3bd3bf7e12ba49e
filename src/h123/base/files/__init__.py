"""Reads and writes files safely: they survive crashes, have a limited size, and may come from strangers."""

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
