"""Explains why the compared levels differ, from packets, handshakes, windows and processors."""

__all__ = ["causes", "changes", "transport", "windows"]
