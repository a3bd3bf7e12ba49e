"""`h123 publish`: adds results from this machine to the documentation."""

import re
from pathlib import Path
from typing import Annotated

import typer

from h123.base.errors import UserError
from h123.base.paths import require_checkout
from h123.base.terminal.console import out_console
from h123.cli import completion
from h123.cli.subjects.selection import subjects_by_name


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Subjects to publish. [default: all with new results on this machine]",
            show_default=False,
            autocompletion=completion.subjects,
        ),
    ] = None,
    campaign: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Publish this finished campaign's result instead, into docs/results/data.tar.xz.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of the published result. [default: the name of DIR]", show_default=False
        ),
    ] = None,
) -> None:
    """Publish what `h123 verify` and `h123 profile` found on this machine, or a campaign's result (for maintainers).

    The command writes the subjects' records to docs/verified/records.json.xz, then docs/catalogue.md, docs/profiles.md
    and docs/constants.md. Without names, it publishes only subjects whose results are newer than the published ones. If
    there are no such subjects, it only updates the pages from the manifests.

    Examples:

    `h123 publish go`

    `h123 publish --campaign campaigns/quick`
    """
    require_checkout("h123 publish")
    if campaign or name:
        if names or not campaign:
            raise UserError(
                "--campaign DIR publishes a campaign, and --name names it; neither can be combined with subjects"
            )
        _publish_campaign(campaign, name)
        return
    from h123.catalogue import catalogue
    from h123.report.catalogue import write_catalogue, write_constants, write_profiles
    from h123.verification import has_news, publish

    unknown = []
    chosen_subjects = (
        subjects_by_name(names) if names else [subject for subject in catalogue().values() if has_news(subject)]
    )
    for subject in chosen_subjects:
        if publish(subject):
            out_console.print(f"{subject.name}: published")
        elif names:
            unknown.append(subject.name)
    if not chosen_subjects:
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


def _publish_campaign(path: Path, name: str | None) -> None:
    from h123.analysis.results.publication import publish_result
    from h123.report import published_facts
    from h123.store import CampaignFolder

    folder = CampaignFolder.open(path)
    called = name or folder.name
    if not re.fullmatch(r"[a-z0-9][a-zA-Z0-9-]*", called):
        raise UserError(
            f"{called!r} cannot be the name of a result", remedy="give it one with --name: letters, digits and hyphens"
        )
    result = publish_result(folder, called, published_facts)
    out_console.print(f"{result.place}: published", soft_wrap=True)
