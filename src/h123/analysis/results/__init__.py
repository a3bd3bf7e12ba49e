"""Published results: campaigns of this project, as the repository keeps them (docs/contracts/results.md)."""

__all__ = ["decided", "head", "publication"]
