"""`h123 gate`: checks a finished campaign against conditions."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from h123.base.errors import UserError
from h123.base.files.durable import is_writable
from h123.base.terminal.console import out_console, print_json, write
from h123.cli.answer_form import JsonOption, note_early_look
from h123.cli.campaigns.damage import complain_of_damage, note_unsaved
from h123.cli.options import ByOption, FailIfOption, FolderArgument

if TYPE_CHECKING:
    from h123.study import Condition, Study

_LINES, _CAVEATS = 15, 4
"""The maximum numbers of lines about conditions and about caveats. The whole output fits into 25 lines."""


def command(
    campaign: FolderArgument, fail_if: FailIfOption = None, by: ByOption = "interval", as_json: JsonOption = False
) -> None:
    """Check a finished campaign against conditions, for example to fail CI if a build gets slower.

    The exit status is 99 if a --fail-if condition is met, 98 if one is undecided because its interval includes the
    bound, and 0 if none is met. Without --fail-if, h123 checks the requirements of the campaign's study: the status is
    99 if one does not hold, 98 if one is undecided, and 0 if all hold. The command writes gate.json, gate.xml (JUnit),
    gate.md, gate-benchmark.json (github-action-benchmark) and gate.prom (OpenMetrics) into the campaign's folder.

    A condition can name any two levels, and any metric that the campaign's trials provide (docs/contracts/metrics.md),
    even if the study does not list it. While trials are missing or files are damaged, the status is never 0.

    Examples:

    `h123 gate campaigns/builds --fail-if 'latency new/base > +5%'`

    `h123 gate campaigns/builds --fail-if 'latency_p99 new > 200ms' --json`
    """
    from h123.cli.campaigns import requirements

    raise typer.Exit(hold(campaign, requirements.forbidding(fail_if or [], by), as_json=as_json))


def hold(path: Path, conditions: "Sequence[Condition]", *, as_json: bool = False) -> int:
    """Check a campaign against the conditions, or against its study's requirements if there are none. Return the exit
    status. Raises UserError."""
    from h123.cli.campaigns.requirements import GateResult, check_levels, print_gate_files, required
    from h123.report import caveat_lines, first_lines, print_gate, write_report
    from h123.store import CampaignFolder
    from h123.study import Study

    folder = CampaignFolder.open(path)
    check_levels(folder, conditions)
    requirements = conditions or required(folder)
    if not requirements:
        raise UserError(
            f"no condition for {path}: its study has no requirements",
            remedy=f"give a condition: --fail-if '{_example(Study.from_resolved(folder.study))}'",
        )
    result = GateResult(folder, requirements)
    if as_json:
        print_json(result.document)
        note_early_look(result.verdicts)
    else:
        print_gate(result.verdicts, out_console, most=_LINES)
        warnings = [*first_lines(result.verdicts), *caveat_lines(result.verdicts, path)]
        for line in warnings[:_CAVEATS]:
            write(out_console, line)
    if (path / "report.html").exists() and is_writable(path):
        write_report(folder)
    if not as_json:
        print_gate_files(result.files)
    note_unsaved(folder)
    complain_of_damage(folder)
    return result.status


def _example(study: "Study") -> str:
    """Return an example of a condition for which the study's campaigns provide values."""
    from h123.study import METRICS

    pair = study.compare.pairs[0]
    metric = study.compare.families[0].metrics[0]
    return f"{metric} {pair} {'< 0.95' if METRICS[metric].better == 'higher' else '> 1.05'}"
