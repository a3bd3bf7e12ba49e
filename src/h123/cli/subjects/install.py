"""`h123 install`: installs subjects and the virtual kernel into the cache."""

from typing import Annotated

import typer

from h123.base.terminal.console import err_console, out_console
from h123.cli import completion
from h123.cli.subjects.selection import KERNEL, named_subjects


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Subjects to install, or {KERNEL}.",
            show_default=False,
            autocompletion=completion.installable,
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Install all subjects; this takes hours and gigabytes.")
    ] = False,
) -> None:
    """Install subjects (servers and clients) or the virtual kernel into h123's cache.

    Subjects that are already installed are left alone. If one installation fails, the others continue.

    `h123 install virtual-kernel` builds a user-mode Linux kernel from Debian's source package, for `--clock virtual`.

    Examples:

    `h123 install nginx caddy`

    `h123 install virtual-kernel`
    """
    from h123 import virtual
    from h123.base.terminal.steps import Steps
    from h123.catalogue import check_failures, install_each

    kernel, subjects = named_subjects(names, everything)
    with Steps(err_console) as steps:
        failures = install_each(subjects, steps)
        if kernel:
            virtual.install_kernel(steps)
    for name in [s.name for s in subjects if s.name not in failures] + ([KERNEL] if kernel else []):
        out_console.print(f"{name}: installed")
    check_failures(failures)
