"""Metrics: what h123 measures, which direction is better, and conditions on it."""

__all__ = ["quantity"]
