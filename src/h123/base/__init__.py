"""Provides the foundation of every package: files, units, errors and the terminal. Nothing here depends on what h123
measures."""

__all__ = [
    "complaints",
    "distributions",
    "errors",
    "extras",
    "files",
    "garbage",
    "late_loading",
    "limits",
    "paths",
    "processes",
    "relative",
    "roots",
    "strict",
    "terminal",
    "transport",
    "units",
]
