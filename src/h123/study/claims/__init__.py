"""Published claims and printed values, each with the cells of a study that decide it."""

__all__ = ["checks"]
