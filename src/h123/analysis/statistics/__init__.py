"""Provides the tests, intervals, corrections and looks behind every verdict, as pure functions of numbers."""

__all__ = ["precision"]
