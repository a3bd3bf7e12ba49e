"""Writes text for people. Handles the streams, wraps lines, formats tables, and removes characters that could control a
terminal."""

__all__ = ["console", "markdown", "redaction", "steps", "streams", "tables", "visible"]
