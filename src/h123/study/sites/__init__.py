"""Pages: sites/*.yaml, recordings of pages (HAR), and the documents for a browser."""

__all__ = ["documents", "site"]
