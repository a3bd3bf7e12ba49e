"""Reads samples from other tools, in any of their formats, and writes them into a campaign folder according to a
schema."""

__all__ = ["scorecard"]
