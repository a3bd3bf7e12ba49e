"""Files that survive crashes, are bounded in size, and may come from strangers."""

__all__ = [
    "durable",
    "installing",
    "journal",
    "jsontext",
    "lock",
    "output",
    "place",
    "scratch",
    "sizes",
    "textfile",
    "tree",
]
