"""Handles published results: this project's campaigns in the form in which the repository keeps them
(docs/contracts/results.md)."""

__all__ = ["decided", "head", "publication"]
