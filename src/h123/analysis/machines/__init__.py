"""Handles several machines in one campaign: how much they differ, which ones differ too much, and the consequences."""

__all__ = ["section"]
