"""Foreign text is shown, never obeyed."""

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from h123.base.terminal.console import VisibleConsole, write
from h123.base.terminal.markdown import plain
from h123.base.terminal.visible import in_one_line, visible


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_nothing_without_a_shape_is_left(text: str) -> None:
    shown = visible(text)
    assert not {letter for letter in shown if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {
        "\n",
        "\t",
    }
    assert visible(shown) == shown
    shown.encode()


@given(st.text(alphabet=st.characters(categories=["L", "N", "Sc"], exclude_characters="\u115f\u1160\u3164\uffa0")))
def test_what_has_a_shape_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\x9bb", "a\\x9bb"),
        ("a\u202eb", "a\\u202eb"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("::add-mask::x", ": :add-mask::x"),
        ("a\n  ::stop-commands::x", "a\n  : :stop-commands::x"),
        ("::error file=a,line=1::x", ": :error file=a,line=1::x"),
        ("a ##[add-matcher]x", "a ## [add-matcher]x"),
        ("[::1]:443 and ::1", "[::1]:443 and ::1"),
        ("::1 is an address", "::1 is an address"),
        ("Größe “5 µs” → ✓ 日本", "Größe “5 µs” → ✓ 日本"),
    ],
)
def test_as_it_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_name_is_one_line() -> None:
    assert in_one_line("a\nh123: all is well") == "a h123: all is well"


@pytest.mark.parametrize("way", ["text", "string", "table", "title", "prose", "status"])
def test_no_way_to_the_console_is_raw(way: str) -> None:
    said = "a\x1b[31m\x07\u202eb"
    console = VisibleConsole(file=io.StringIO(), width=60, markup=False, emoji=False, highlight=False)
    match way:
        case "text":
            console.print(Text(said, style="bold").append(said, style="red"))
        case "string":
            console.print(said, soft_wrap=True)
        case "table":
            table = Table(said, box=None)
            table.add_row(said)
            console.print(table)
        case "title":
            console.rule(said)
        case "prose":
            write(console, said, lead="h123: ")
        case "status":
            with console.status(said):
                console.print(said)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "\\x1b[31m" in shown
    assert "\\u202e" in shown
    assert not set(shown) & set("\x1b\x07\u202e")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("[x](javascript:1)", r"\[x\](javascript:1)"),
        ("![x](http://a/)", r"!\[x\](http://a/)"),
        ("a | b", r"a \| b"),
        ("<img src=x>", "&lt;img src=x>"),
        ("latency <= 1.05", "latency <= 1.05"),
        ("@everyone `x`", r"&#64;everyone \`x\`"),
        ("a\nb", "a b"),
    ],
)
def test_markdown_of_others_is_text(text: str, cell: str) -> None:
    assert plain(text) == cell
