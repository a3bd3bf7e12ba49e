"""Pages: sites/*.yaml, recordings of pages (HAR), and what a browser is served."""

__all__ = ["documents", "site"]
