"""`h123 remove`: removes subjects and the virtual kernel from the cache."""

from typing import Annotated

import typer

from h123.base.terminal.console import out_console, say
from h123.cli import completion
from h123.cli.subjects.selection import KERNEL, named_subjects


def command(
    names: Annotated[
        list[str],
        typer.Argument(
            help=f"Subjects to remove, or {KERNEL}.", show_default=False, autocompletion=completion.installable
        ),
    ],
) -> None:
    """Remove installed subjects or the virtual kernel from h123's cache.

    Examples:

    `h123 remove nginx`

    `h123 remove virtual-kernel`
    """
    from h123 import virtual
    from h123.catalogue import remove

    kernel, subjects = named_subjects(names, everything=False)
    there = {subject.name: remove(subject, say) for subject in subjects}
    if kernel:
        there[KERNEL] = virtual.remove_kernel(say)
    for name, was_there in there.items():
        out_console.print(f"{name}: {'removed' if was_there else 'was not installed'}")
