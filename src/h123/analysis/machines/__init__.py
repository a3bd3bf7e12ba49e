"""Many machines in one campaign: how much they differ, which of them differ too much, and what that changes."""

__all__ = ["section"]
