"""Text for people: streams, lines, tables, and what must not reach a terminal raw."""

__all__ = ["console", "markdown", "redaction", "steps", "streams", "visible"]
