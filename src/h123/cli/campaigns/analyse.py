"""`h123 analyse`: computes a campaign's verdicts again from its samples."""

from h123.base.terminal.console import out_console
from h123.cli.campaigns.damage import complain_of_damage
from h123.cli.options import FolderArgument


def command(folder: FolderArgument) -> None:
    """Reanalyse a campaign from its raw samples, write verdicts.json and print the answer."""
    from h123.cli.campaigns import requirements
    from h123.report import print_summary
    from h123.store import CampaignFolder

    campaign = CampaignFolder.open(folder)
    print_summary(requirements.GateResult(campaign, requirements.standing(campaign)).verdicts, out_console, folder)
    complain_of_damage(campaign)
