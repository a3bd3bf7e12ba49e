"""Defines the command line. Each command has a file, in the package of the noun that it is about
(docs/guides/command.md).

Commands import everything that reads studies, measures, analyses or reports inside their bodies: `h123 --help` loads
every command, and a mistyped name should be reported at once.
"""

from h123.cli.app import main

__all__ = ["main"]
