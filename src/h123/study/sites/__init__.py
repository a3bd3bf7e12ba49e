"""Reads sites (sites/*.yaml) and recordings of pages (HAR), and makes documents for browsers."""

__all__ = ["documents", "site"]
