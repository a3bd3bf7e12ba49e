"""Defines the command line. Each command has a file, in the package of the noun that it is about
(docs/guides/command.md).

A command imports the code that reads studies, measures, analyses or reports only in its body, because `h123 --help`
loads every command, and a mistyped name should be reported at once.
"""

from h123.cli.app import main

__all__ = ["main"]
