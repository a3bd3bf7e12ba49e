"""Makes tables for the terminal."""

from collections.abc import Container

from rich.table import Table


def plain_table(*columns: str, right: Container[str] = ()) -> Table:
    """Return a table without lines, with columns that wrap. The columns `right` are aligned to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold", justify="right" if column in right else "left")
    return table
