"""Metrics: the quantities that h123 measures, the better direction of each, and conditions on them."""

__all__ = ["quantity"]
