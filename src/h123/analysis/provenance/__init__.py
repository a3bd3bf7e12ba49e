"""Reports where trials ran, what they left behind, and which attempts or files do not count."""

__all__ = [
    "adverse_paths",
    "counts",
    "discarded_files",
    "gate",
    "heading",
    "looks",
    "origin",
    "places",
    "remote_server",
    "seals",
    "shard",
    "unverified_subjects",
    "values",
]
