"""Writes text for people: streams, lines, tables, and the removal of characters that could control a terminal."""

__all__ = ["console", "markdown", "redaction", "steps", "streams", "visible"]
