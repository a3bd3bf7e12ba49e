"""The command `claims`: what published works claim, and what arithmetic or a campaign makes of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.cli import completion
from h123.cli.damage import complain_of_damage
from h123.console import out_console
from h123.errors import UserError
from h123.study import Ledger, find_ledgers, ledgers_of

if TYPE_CHECKING:
    from h123.results import CampaignFolder

app = typer.Typer()


@app.command()
def claims(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claims files or studies, by name or path. [default: all claims; with --campaign, those that its "
            "study can decide]",
            show_default=False,
            autocompletion=completion.claims_and_studies,
        ),
    ] = None,
    campaign: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Campaign to decide the claims with.", show_default=False)
    ] = None,
) -> None:
    """List published claims with their verdicts.

    A claim is impossible if a printed figure contradicts arithmetic or physics; the calculation is shown. Any other
    claim is open until a campaign of its study decides it: confirmed, direction only (right direction, different size),
    refuted or undecided. The rule is in docs/contracts/claims.md.
    """
    from h123.analysis import decide, decide_claims
    from h123.report import print_claims
    from h123.results import CampaignFolder

    folder = CampaignFolder.open(campaign) if campaign else None
    ledgers = _ledgers(what or [], folder)
    print_claims(decide_claims(folder, ledgers) if folder else [decide(one) for one in ledgers], out_console)
    if folder:
        complain_of_damage(folder)


def _ledgers(names: list[str], folder: "CampaignFolder | None") -> list[Ledger]:
    """The ledgers that `claims` is about."""
    if names or folder is None:
        return [ledger for name in names for ledger in find_ledgers(name)] if names else ledgers_of()
    study = folder.study["name"]
    if not (found := ledgers_of(study)):
        raise UserError(f"no claims file is about study {study!r}", remedy="`h123 claims` lists all claims")
    return found
