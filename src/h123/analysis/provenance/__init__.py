"""Provenance: where trials ran, what they left behind, and which attempts or files do not count."""

__all__ = [
    "counts",
    "discarded",
    "gate",
    "heading",
    "imported",
    "looks",
    "places",
    "remote_server",
    "seals",
    "unproved",
    "values",
]
