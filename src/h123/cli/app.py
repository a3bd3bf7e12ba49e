"""Defines the command line: its commands in the order of the help, their common error handling, and the exit status."""

import os
import shlex
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from h123 import __version__
from h123.base.errors import Interrupted, UserError, interruptible
from h123.base.files.scratch import sweep
from h123.base.limits import FULL, exhausted
from h123.base.terminal.console import err_console, name_program, out_console, write
from h123.cli.campaigns import analyse, claims, export, import_samples, report, run, show, why
from h123.cli.comparisons import compare, diff, gate, tune, what_if
from h123.cli.glossary import explain
from h123.cli.machine import doctor, lab
from h123.cli.networks import import_recording
from h123.cli.plans import plan
from h123.cli.shards import join, shards
from h123.cli.signals import heed_no_more, heed_signals
from h123.cli.sites import import_page
from h123.cli.sites import show as show_site
from h123.cli.subjects import install, listing, matrix, profile, publish, remove, verify
from h123.cli.usage_errors import PlainWords

app = typer.Typer(
    name="h123",
    cls=PlainWords,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Measure HTTP/1.1, HTTP/2 and HTTP/3 side by side over emulated networks, and report with sound statistics
which one serves a workload best, by how much, and why.

Start with `h123 run quick`: it measures, analyses and writes a report. `h123 doctor` checks this machine.""",
)
COMMANDS: dict[str, Callable[..., None]] = {
    "run": run.command,
    "plan": plan.command,
    "shards": shards.command,
    "join": join.command,
    "analyse": analyse.command,
    "report": report.command,
    "why": why.command,
    "what-if": what_if.command,
    "show": show.command,
    "explain": explain.command,
    "export": export.command,
    "import": import_samples.command,
    "compare": compare.command,
    "tune": tune.command,
    "gate": gate.command,
    "diff": diff.command,
    "verify": verify.command,
    "profile": profile.command,
    "claims": claims.command,
    "doctor": doctor.command,
    "list": listing.command,
    "install": install.command,
    "remove": remove.command,
    "matrix": matrix.command,
    "publish": publish.command,
}
"""The commands in the order of `h123 --help`. A command's docstring is its help text (docs/guides/command.md)."""
GROUPS: dict[str, tuple[str, dict[str, Callable[..., None]]]] = {
    "lab": (
        "Use the emulated links and network namespaces directly, without a study.",
        {"exec": lab.execute, "bench": lab.bench},
    ),
    "network": (
        "Import networks from recordings of links.",
        {"import": import_recording.command},
    ),
    "site": (
        "Show or import sites: the pages that studies load if their workload is of kind page.",
        {"show": show_site.command, "import": import_page.command},
    ),
}
for name, command in COMMANDS.items():
    app.command(name=name)(command)
for name, (described, commands) in GROUPS.items():
    group = typer.Typer(no_args_is_help=True, help=described)
    for each, command in commands.items():
        group.command(name=each)(command)
    app.add_typer(group, name=name)


def _print_version(requested: bool) -> None:
    if requested:
        out_console.print(f"h123 {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Handle the options of `h123` itself, such as `--version`."""


def main() -> None:
    """Run the command line."""
    heed_signals()
    try:
        try:
            _run()
        finally:
            heed_no_more()
    except KeyboardInterrupt:  # one more Ctrl-C, while h123 was handling the first or about to end
        heed_no_more()
        sys.exit(130)


def _run() -> None:
    """Run the program. Every expected failure ends with one message and an exit status."""
    try:
        with interruptible():
            name_program(shlex.quote(os.environ.get("H123_CALLED", "h123")), [*COMMANDS, *GROUPS])
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
    if exhaustion := exhausted(error):
        _fail(exhaustion.message, exhaustion.remedy, exhaustion.status)
    raise error  # a defect: let Python print the traceback


def _fail(message: str, remedy: str | None, status: int) -> NoReturn:
    write(err_console, message, lead="h123: ", lead_style="bold red")
    if remedy:
        write(err_console, remedy, lead="  -> ")
    sys.exit(status)
