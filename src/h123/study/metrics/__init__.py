"""Defines the metrics, which are the quantities that h123 measures, and conditions on them."""

__all__ = ["quantity"]
