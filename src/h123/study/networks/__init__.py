"""Networks: emulated paths, and networks/*.yaml."""

__all__ = ["network"]
