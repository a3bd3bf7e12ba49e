"""The command line: one short function a command, and what it says.

What measures, reads results, analyses and reports is imported by the commands that need it: the libraries take long to
load, and a mistyped name should be answered at once.
"""

from h123.cli.app import main

__all__ = ["main"]
