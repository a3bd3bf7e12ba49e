"""Handles campaigns on several machines: measures how much the machines differ, and leaves out those that differ too
much."""

__all__ = ["section"]
