"""Samples of other tools: files of any of their formats, read by a schema into a campaign folder."""

__all__ = ["scorecard"]
