"""Defines the command line. Each command has a file, in a package for its topic, such as campaigns or networks
(docs/guides/command.md).

The function of a command imports the code for studies, measurements, analysis and reports only when it runs. This keeps
`h123 --help`, which loads every command, and messages about mistyped names fast.
"""

from h123.cli.app import main

__all__ = ["main"]
