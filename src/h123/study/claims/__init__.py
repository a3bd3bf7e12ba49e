"""Reads published claims and printed values, and connects them with the cells of the studies that they are about."""

__all__ = ["checks"]
