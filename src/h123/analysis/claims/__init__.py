"""Decides claims of published works, with arithmetic and with a campaign's results."""

__all__ = ["decisions", "rows", "section"]
