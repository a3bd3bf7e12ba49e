"""Statistics: the tests, intervals, corrections and looks that every verdict rests on; pure functions of numbers."""

__all__ = ["precision"]
