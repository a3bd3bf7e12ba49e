"""Defines the command line. Each command has a file, in a package for its topic, such as campaigns or networks
(docs/guides/command.md).

The function of a command imports the code for studies, measurements, analysis and reports only when it runs, because
`h123 --help` loads every command, and a mistyped name should be reported at once.
"""

from h123.cli.app import main

__all__ = ["main"]
