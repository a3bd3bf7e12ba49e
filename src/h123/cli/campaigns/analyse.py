"""`h123 analyse`: recomputes a campaign's verdicts from its samples."""

from h123.cli.answer_form import DetailsOption, JsonOption, QuietOption, answer_form, print_in_form
from h123.cli.campaigns.damage import complain_of_damage, note_unsaved
from h123.cli.campaigns.report import LINES
from h123.cli.options import FolderArgument


def command(
    folder: FolderArgument, details: DetailsOption = False, quiet: QuietOption = False, as_json: JsonOption = False
) -> None:
    """Reanalyse a campaign from its raw samples, write verdicts.json and print the answer.

    Examples:

    `h123 analyse campaigns/quick`

    `h123 analyse campaigns/quick --details`
    """
    form = answer_form(details=details, quiet=quiet, as_json=as_json)
    from h123.cli.campaigns import requirements
    from h123.store import CampaignFolder

    campaign = CampaignFolder.open(folder)
    verdicts = requirements.GateResult(campaign, requirements.standing(campaign)).verdicts
    print_in_form(verdicts, folder, form, most=LINES)
    note_unsaved(campaign)
    complain_of_damage(campaign)
