"""Decides claims of published works, by arithmetic and by a campaign."""

__all__ = ["decisions", "rows", "section"]
