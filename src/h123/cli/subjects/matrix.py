"""`h123 matrix`: tries which clients work with which servers."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.errors import Interrupted, UserError
from h123.base.terminal.console import err_console, out_console, say
from h123.cli import completion

if TYPE_CHECKING:
    from h123.catalogue import Subject


def command(
    servers: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Servers to try. [default: all installed]",
            show_default=False,
            autocompletion=completion.comma_separated(completion.subjects),
        ),
    ] = None,
    clients: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Clients to try. [default: all installed]",
            show_default=False,
            autocompletion=completion.comma_separated(completion.subjects),
        ),
    ] = None,
    protocols: Annotated[str, typer.Option(metavar="P,...", help="Protocols to try.")] = "h1,h2,h3",
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results and the page.")] = Path(
        "campaigns/matrix"
    ),
) -> None:
    """Try every client with every server over each protocol, and show which pairs work: pass, fail or unsupported.

    Each pair runs real trials: GET and POST of 100 kB by three users, over a plain veth pair. Subjects that you name
    are installed first if necessary. Ctrl-C loses at most the trial in progress; to resume, run the same command. A
    pair runs again if it failed or if one of its subjects has changed. To start over, use a different --out.

    Examples:

    `h123 matrix --servers go,nginx --clients go,curl-quiche`

    `h123 matrix --out matrix`
    """
    _try_pairs(servers, clients, protocols, out)


def _try_pairs(servers: str | None, clients: str | None, protocols: str, out: Path) -> None:
    """Run trials of all pairs. Raises UserError if a pair fails."""
    from h123.base.terminal.steps import Steps
    from h123.catalogue import PROTOCOLS, catalogue, check_failures
    from h123.cli.subjects.cast import helpers, install_missing
    from h123.execution import LocalPool
    from h123.progress import display_for
    from h123.report.catalogue import print_matrix, write_matrix
    from h123.verification.matrix import MatrixFolder, failures, known_cells, pairings, run_matrix

    subjects, spoken = catalogue(), [_one_of(PROTOCOLS, name, "protocol") for name in protocols.split(",")]
    pairs = pairings(
        _side(subjects, "server", servers, lambda subject: subject.server is not None),
        _side(subjects, "client", clients, lambda subject: subject.client is not None),
        spoken,
    )
    sides = [name for pairing in pairs for name in (pairing.server, pairing.client)]
    # before builds, because the folder records the files from which subjects are built
    folder = MatrixFolder(out, subjects)
    with Steps(err_console) as steps:
        check_failures(install_missing([*helpers(subjects), *(subjects[name] for name in sides)], steps))
    try:
        with LocalPool() as pool:
            run_matrix(pairs, subjects, folder, pool, display_for(err_console))
    except KeyboardInterrupt:
        say("\nInterrupted. Finished pairs are kept; run the same command to resume.")
        raise Interrupted from None
    finally:
        page = out / "matrix.html"
        cells = known_cells(pairs, subjects, folder)
        write_matrix(cells, subjects, folder.events(), page)
    print_matrix(cells, out_console)
    out_console.print(f"Page: {page}", soft_wrap=True)
    if failed := list(failures(cells)):
        count = "1 trial" if len(failed) == 1 else f"{len(failed)} trials"
        raise UserError(f"{count} failed", remedy="the page says why and shows the logs", status=1)


def _side(
    subjects: "Mapping[str, Subject]", what: str, names: str | None, fits: "Callable[[Subject], bool]"
) -> list[str]:
    """Return the subjects on one side of the matrix: the named ones, or all that are installed and suitable."""
    from h123.catalogue import installed, unknown_subject

    able = [name for name, subject in subjects.items() if fits(subject)]
    if names is not None:
        for name in names.split(","):
            if name not in subjects:
                raise unknown_subject(name)
        return list(dict.fromkeys(_one_of(able, name, what) for name in names.split(",")))
    if fitting := [name for name in able if installed(subjects[name])]:
        return fitting
    raise UserError(
        f"no {what} is installed",
        remedy=f"run `h123 install NAME`, or name some with --{what}s: those are installed first",
    )


def _one_of(allowed: Sequence[str], name: str, what: str) -> str:
    from h123.base.complaints import choose
    from h123.catalogue import subjects_folder

    if name not in allowed:
        remedy = choose(name, allowed) if allowed else f"no subject in {subjects_folder()} is a {what}"
        raise UserError(f"there is no {what} {name!r}", remedy=remedy)
    return name
