"""`h123 explain`: explains a term in h123's output."""

from typing import Annotated

import typer

from h123.base.terminal.console import out_console


def command(
    term: Annotated[
        list[str] | None,
        typer.Argument(help="A term, a symbol or a line of h123's output. [default: list all terms]"),
    ] = None,
) -> None:
    """Explain a verdict, an audit, a metric, a cause, a symbol or any other term in h123's output.

    Examples:

    `h123 explain machine-saturated`

    `h123 explain a congestion window reduced by losses`
    """
    from h123.report import glossary

    if not term:
        for kind in dict.fromkeys(each.kind for each in glossary.terms()):
            names = ", ".join(each.name for each in glossary.terms() if each.kind == kind)
            out_console.print(f"{kind}: {names}")
        return
    for each in glossary.find_terms(" ".join(term)):
        words = f": {each.words}" if each.words else ""
        out_console.print(f"{each.name} ({each.kind}{words})")
        out_console.print(f"  {each.means}")
        if each.do:
            out_console.print(f"  What to do: {each.do}")
        if each.see:
            out_console.print(f"  More: docs/{each.see}")
