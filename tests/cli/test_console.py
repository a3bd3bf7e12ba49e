"""Prose in lines: what may be parted, and what not."""

import pytest
from rich.console import Console
from rich.table import Table

from h123.base.terminal.console import err_console, name_program, out_console, wrap, write
from printing import printed


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("takes 30 ms a trip", 10, ["takes", "30 ms a", "trip"]),
        ("a loss of 0.5 % each", 14, ["a loss of", "0.5 % each"]),
        ("95 % 1.07 – 1.61: slower", 18, ["95 % 1.07 – 1.61:", "slower"]),
        ("go on with `h123 run --out DIR`", 20, ["go on with", "`h123 run --out DIR`"]),
        ("see /a/path/that-is-longer/than-the-line", 12, ["see", "/a/path/that-is-longer/than-the-line"]),
        ("build failed:\n  cc: no  such file or directory", 14, ["build failed:", "  cc: no  such file or directory"]),
    ],
)
def test_prose_is_broken_between_words_alone(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width).split("\n") == lines


def test_lines_hang_below_what_leads_them() -> None:
    shown = printed(lambda console: write(console, "free at least 2 GB of disk\n\nnow", lead="  -> "), width=16)
    assert shown == "  -> free at\n     least 2 GB\n     of disk\n\n     now\n"


@pytest.mark.parametrize("console", [out_console, err_console])
def test_text_is_shown_as_it_was_written(console: Console) -> None:
    said = "[red]a[/red] [/b] :x: :warning: [link=x]"
    table = Table(said, box=None)
    table.add_row(said)
    with console.capture() as shown:
        console.print(said, soft_wrap=True)
        console.print(table, soft_wrap=True)
    assert shown.get().split("\n")[0] == said
    assert shown.get().count(":x: :warning:") == 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("resume with `h123 run --out c`", "resume with ./h123 run --out c"),
        ("Details: h123 analyse c --details", "Details: ./h123 analyse c --details"),
        ("h123 does not check it; `./h123 run` does", "h123 does not check it; ./h123 run does"),
        ("campaigns/h123 run", "campaigns/h123 run"),
    ],
)
def test_commands_are_those_that_work_here(text: str, shown: str) -> None:
    """In a checkout only ./h123 works, and hints said h123."""
    name_program("./h123", ["run", "analyse"])
    try:
        with out_console.capture() as printed:
            write(out_console, text)
            out_console.print(text.replace("`", ""))
    finally:
        name_program("h123", [])
    assert printed.get().splitlines() == [shown, shown]
