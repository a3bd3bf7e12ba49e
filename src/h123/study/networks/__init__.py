"""Defines networks, which are emulated paths, and reads their files (networks/*.yaml)."""

__all__ = ["network"]
