"""What every package stands on, and what knows nothing of what h123 measures: files, units, errors, the terminal."""

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
    "roots",
    "strict",
    "terminal",
    "transport",
    "units",
]
