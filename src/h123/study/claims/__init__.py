"""Reads published claims and printed values, and connects each with the cells of a study."""

__all__ = ["checks"]
