"""Explains in sentences why levels differ."""
