"""Handles published results: this project's campaigns as the repository keeps them (docs/contracts/results.md)."""

__all__ = ["decided", "head", "publication"]
