"""`h123 publish`: what this machine found out about subjects goes into the documentation."""

from typing import Annotated

import typer

from h123.base.errors import UserError
from h123.base.paths import require_checkout
from h123.base.terminal.console import out_console
from h123.cli import completion
from h123.cli.subjects.selection import known


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Subjects. [default: all of which this machine knows something new]",
            show_default=False,
            autocompletion=completion.subjects,
        ),
    ] = None,
) -> None:
    """For maintainers: publish what `h123 verify` and `h123 profile` found on this machine.

    Writes docs/verified/NAME.json for each subject, then docs/catalogue.md, docs/profiles.md and docs/constants.md.
    Without names, those are left as they are that no newer or other verification of the same files would replace; if
    that is all of them, the pages are just brought up to date with the manifests.
    """
    require_checkout("h123 publish")
    from h123.catalogue import catalogue
    from h123.report.catalogue import write_catalogue, write_constants, write_profiles
    from h123.verification import has_news, publish

    unknown = []
    asked = known(names) if names else [subject for subject in catalogue().values() if has_news(subject)]
    for subject in asked:
        if publish(subject):
            out_console.print(f"{subject.name}: published")
        elif names:
            unknown.append(subject.name)
    if not asked:
        out_console.print("nothing new to publish")
    write_catalogue()
    write_profiles()
    write_constants()
    if unknown:
        raise UserError(
            f"no current verification on this machine: {', '.join(unknown)}",
            remedy=f"run `h123 verify {' '.join(unknown)}` first",
            status=1,
        )
