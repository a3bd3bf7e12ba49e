"""Samples of other tools: reads files in any of their formats, according to a schema, into a campaign folder."""

__all__ = ["scorecard"]
