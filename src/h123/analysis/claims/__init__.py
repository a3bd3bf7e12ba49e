"""Claims of published works, decided by arithmetic and by a campaign."""

__all__ = ["decisions", "rows", "section"]
