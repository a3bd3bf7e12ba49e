"""Provides the statistics behind every verdict, as pure functions of numbers: tests, intervals, corrections, and rules
for looking at data repeatedly."""

__all__ = ["precision"]
