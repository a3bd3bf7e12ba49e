"""The kernel of h123's virtual clock, for machines that cannot build it. h123 finds it by itself."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
"""Holds `linux`, its description `kernel.json` and its configuration `kernel.config`."""
