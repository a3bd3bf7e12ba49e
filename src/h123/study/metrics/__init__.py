"""Metrics: what is measured, in which direction it is better, and conditions on it."""

__all__ = ["quantity"]
