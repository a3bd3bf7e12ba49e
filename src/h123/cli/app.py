"""The command line: its commands in order, and how every one of them ends."""

import sys
from typing import Annotated, NoReturn

import typer

from h123 import __version__
from h123.base.errors import Interrupted, UserError
from h123.base.files.scratch import sweep
from h123.base.interruption import interruptible
from h123.base.limits import FULL, exhausted
from h123.base.terminal.console import err_console, out_console, write
from h123.cli import campaigns, claims, comparison, machine, sites, subjects, verification
from h123.cli.signals import heed_no_more, heed_signals
from h123.cli.wording import PlainWords

app = typer.Typer(
    name="h123",
    cls=PlainWords,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Measure HTTP/1.1, HTTP/2 and HTTP/3 side by side over emulated networks, and report with sound statistics
which one serves a workload better, by how much, and why.

Start with `h123 run quick`: it measures, analyses and writes a report. `h123 doctor` checks this machine.""",
)
for each in (campaigns, comparison, verification, claims, machine, subjects):
    app.add_typer(each.app)
app.add_typer(machine.lab_app, name="lab")
app.add_typer(sites.app, name="site")


def _print_version(asked: bool) -> None:
    if asked:
        out_console.print(f"h123 {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Shared by all commands."""


def main() -> None:
    """Entry point."""
    heed_signals()
    try:
        try:
            _run()
        finally:
            heed_no_more()
    except KeyboardInterrupt:  # one more, while the first was being answered or the program was about to end
        heed_no_more()
        sys.exit(130)


def _run() -> None:
    """Every expected failure ends as one message and an exit status."""
    try:
        with interruptible():
            sweep()
            app(prog_name="h123")
    except UserError as error:
        _fail(error.message, error.remedy, error.status)
    except Interrupted:
        sys.exit(130)
    except KeyboardInterrupt:
        _fail("interrupted", None, 130)
    except OSError as error:
        full = FULL.get(error.errno or 0)
        if error.filename is None and not full:
            _give_up(error)
        message = ": ".join(str(part) for part in (error.filename, full or error.strerror) if part)
        _fail(message, "free some space, then run the same command again" if full else None, 1)
    except Exception as error:
        _give_up(error)


def _give_up(error: Exception) -> NoReturn:
    if found := exhausted(error):
        _fail(found.message, found.remedy, found.status)
    raise error  # a defect: the traceback is wanted


def _fail(message: str, remedy: str | None, status: int) -> NoReturn:
    write(err_console, message, lead="h123: ", lead_style="bold red")
    if remedy:
        write(err_console, remedy, lead="  -> ")
    sys.exit(status)
