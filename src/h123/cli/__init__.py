"""The command line: a file for each command, in the package of its noun (docs/guides/command.md).

All that reads studies, measures, analyses or reports is imported in the bodies of commands: `h123 --help` loads every
command, and a mistyped name should be answered at once.
"""

from h123.cli.app import main

__all__ = ["main"]
