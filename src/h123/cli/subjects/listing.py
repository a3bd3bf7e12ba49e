"""`h123 list`: lists subjects, networks or studies."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.errors import UserError
from h123.base.terminal.console import out_console, print_json, wrap, write
from h123.cli import completion
from h123.cli.answer_form import JsonOption
from h123.cli.subjects.selection import subjects_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

_NARROW = 10
"""The minimum width of a column of prose in a table, however narrow the terminal is."""


class Shelf(StrEnum):
    """The kinds of things that `h123 list` can list."""

    SUBJECTS = "subjects"
    NETWORKS = "networks"
    STUDIES = "studies"


def _subjects_unless_others_are_listed(context: typer.Context) -> list[str]:
    return completion.subjects() if context.params.get("what") in (None, Shelf.SUBJECTS) else []


def command(
    what: Annotated[Shelf, typer.Argument(help="What to list.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Subjects to show in detail.", show_default=False, autocompletion=_subjects_unless_others_are_listed
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List subjects (servers and clients), networks or studies, or show some subjects in detail.

    Examples:

    `h123 list studies`

    `h123 list subjects go nginx`
    """
    if names and what is not Shelf.SUBJECTS:
        raise UserError(f"only subjects can be named; `h123 list {what}` lists all {what}")
    if as_json:
        print_json(list(_rows(what, names or [])))
        return
    if what is Shelf.SUBJECTS:
        from h123.cli.subjects.subject_listing import print_subject, print_subjects

        if not names:
            print_subjects(out_console)
            return
        for subject in subjects_by_name(names):
            print_subject(subject, out_console)
        return
    shelves = {Shelf.NETWORKS: _print_networks, Shelf.STUDIES: _print_studies}
    shelves[what](out_console)


def _rows(what: Shelf, names: "Sequence[str]") -> "Iterator[Mapping[str, object]]":
    from h123.study import list_networks, list_studies, load_network, question_of

    match what:
        case Shelf.SUBJECTS:
            from h123.cli.subjects.subject_listing import subject_rows

            yield from subject_rows(names)
        case Shelf.NETWORKS:
            yield from (load_network(name).model_dump(mode="json") for name in list_networks())
        case Shelf.STUDIES:
            yield from ({"name": path.stem, "question": question_of(path)} for path in list_studies())


def _print_networks(console: "Console") -> None:
    from h123.base.terminal.tables import plain_table
    from h123.study import list_networks, load_network

    names = list_networks()
    width = max((console.width - max(map(len, names))) // 2 - 2, _NARROW)
    table = plain_table("name", "what", "what the link does")
    for name in names:
        network = load_network(name)
        up, down = network.describe()
        ways = f"each way: {up}" if up == down else f"up: {up}; down: {down}"
        link = "; ".join(filter(None, [ways, network.describe_moves(), network.describe_cross()]))
        table.add_row(name, *(wrap(text, width) for text in (network.title, link)))
    console.print(table)
    write(console, "\nDelays are one-way, per direction: 15 ms up and 15 ms down add 30 ms to the round trip.")


def _print_studies(console: "Console") -> None:
    from h123.base.terminal.tables import plain_table
    from h123.study import list_studies, question_of

    table = plain_table("name", "question")
    for path in list_studies():
        table.add_row(path.stem, question_of(path))
    console.print(table)
