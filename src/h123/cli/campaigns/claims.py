"""`h123 claims`: lists published claims with their verdicts, which come from arithmetic or from a campaign."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.errors import UserError
from h123.base.terminal.console import out_console, print_json
from h123.cli import completion
from h123.cli.answer_form import AnswerForm, JsonOption, answer_form
from h123.cli.campaigns.damage import complain_of_damage

if TYPE_CHECKING:
    from h123.store import CampaignFolder
    from h123.study import Ledger


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names or paths of claims files or studies: print their claims with the reasons for the verdicts. "
            "[default: one line for each file; with --campaign, the claims that the campaigns' studies can decide]",
            show_default=False,
            autocompletion=completion.claims_and_studies,
        ),
    ] = None,
    campaign: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="Campaign that decides the claims. It takes precedence over published campaigns. Repeat the "
            "option for campaigns of other studies.",
            show_default=False,
        ),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="DIR",
            help="Another campaign of the same study, such as one with --transport matched; its verdict on each claim "
            "is shown too.",
            show_default=False,
        ),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print every claim with its measurement and the reason for its verdict.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List published claims with their verdicts: counts for each file, or all claims of a file, study or campaign.

    A claim is impossible if a published figure contradicts arithmetic or physics; h123 shows the calculation. Most
    other claims are open until a campaign tests them. They are then confirmed, direction only (right direction,
    different size), refuted or undecided. The rule is in docs/contracts/claims.md. The project's published campaigns
    test most claims, and each verdict names its campaign. A verdict from `--campaign DIR` takes precedence.

    Examples:

    `h123 claims curl-http3`

    `h123 claims --campaign campaigns/rest-api`
    """
    if other and not campaign:
        raise UserError("--with DIR needs --campaign DIR: the verdicts of both campaigns are shown next to each other")
    if other and campaign and len(campaign) > 1:
        raise UserError("--with DIR needs a single --campaign DIR: it shows the verdicts of two campaigns of one study")
    form = answer_form(details=details, as_json=as_json)
    if campaign:
        _decided_by(campaign, what or [], other, as_json=as_json)
        return
    from h123.analysis.results.decided import decide_by_results
    from h123.documents.result_file import results
    from h123.report import print_claim_counts, print_claims
    from h123.study import list_claims, load_ledger

    known = results()
    if not what and form is AnswerForm.SCREEN:
        by_name = {path.stem: decide_by_results(load_ledger(path), known) for path in list_claims()}
        print_claim_counts(by_name, out_console)
        return
    decided = [decide_by_results(ledger, known) for ledger in _ledgers(what or [], None)]
    if as_json:
        print_json([one.ledger for one in decided])
    else:
        print_claims(decided, out_console)


def _decided_by(campaigns: list[Path], what: list[str], other_campaign: Path | None, *, as_json: bool) -> None:
    from h123.analysis import decide_claims
    from h123.analysis.results.decided import decide_by_results
    from h123.documents.result_file import results
    from h123.report import OtherLedgers, print_claims
    from h123.store import CampaignFolder

    folders = _by_study([CampaignFolder.open(path) for path in campaigns])
    first, known, decided = next(iter(folders.values())), results(), []
    ledgers = _ledgers(what, None) if what else [ledger for each in folders.values() for ledger in _ledgers([], each)]
    for folder in folders.values():
        mine = [ledger for ledger in ledgers if folders.get(ledger.study or "", first) is folder]
        own = decide_claims(folder, mine)
        decided += [decide_by_results(ledger, known, one) for ledger, one in zip(mine, own, strict=True)]
    other = _other(other_campaign, first) if other_campaign else None
    if as_json:
        print_json([one.ledger for one in decided])
        return
    print_claims(
        decided, out_console, OtherLedgers(_campaign_title(other), decide_claims(other, ledgers)) if other else None
    )
    for one in (*folders.values(), other):
        if one:
            complain_of_damage(one)


def _by_study(folders: "list[CampaignFolder]") -> "dict[str, CampaignFolder]":
    """Return the campaigns by the names of their studies. Raises UserError if two belong to the same study."""
    found = dict[str, "CampaignFolder"]()
    for folder in folders:
        if (same := found.setdefault(folder.study["name"], folder)) is not folder:
            raise UserError(
                f"{same.path} and {folder.path} are campaigns of the same study",
                remedy="name only one with --campaign, and the other one with --with: it shows both verdicts",
            )
    return found


def _other(path: Path, folder: "CampaignFolder") -> "CampaignFolder":
    """Return the campaign that --with names. Raises UserError if it belongs to another study."""
    from h123.store import CampaignFolder

    other = CampaignFolder.open(path)
    if (mine := folder.study["name"]) != (its := other.study["name"]):
        raise UserError(
            f"{path} is a campaign of study {its!r}, but {folder.path} is one of {mine!r}",
            remedy=f"name another campaign of study {mine!r}, or leave out --with",
        )
    return other


def _campaign_title(folder: "CampaignFolder") -> str:
    """Return the name of the campaign's folder and its transport, such as `rest-api (transport matched)`. The two
    campaigns probably differ in transport."""
    transport = folder.study["settings"].get("transport", "deployed")
    return f"{folder.path.name} (transport {transport})"


def _ledgers(names: list[str], folder: "CampaignFolder | None") -> "list[Ledger]":
    """Return the ledgers that the arguments name. Without names, return those about the campaign's study, or all
    ledgers."""
    from h123.study import find_ledgers, ledgers_of

    if names or folder is None:
        return [ledger for name in names for ledger in find_ledgers(name)] if names else ledgers_of()
    study = folder.study["name"]
    if not (ledgers := ledgers_of(study)):
        raise UserError(f"no claims file is about study {study!r}", remedy="`h123 claims` lists all claims")
    return ledgers
