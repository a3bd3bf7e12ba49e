"""`h123 gate`: checks a finished campaign against conditions."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from h123.base.errors import UserError
from h123.base.terminal.console import out_console, write
from h123.cli.campaigns.damage import complain_of_damage
from h123.cli.options import ByOption, FailIfOption, FolderArgument
from h123.cli.signals import signals_blocked

if TYPE_CHECKING:
    from h123.study import Condition, Study


def command(campaign: FolderArgument, fail_if: FailIfOption = None, by: ByOption = "interval") -> None:
    """Hold a finished campaign against conditions, for a build that must not get slower.

    Exit status 0: passed; 99: failed, somewhere the whole interval is beyond a bound; 98: undecided, an interval lies
    on both sides. Without --fail-if the conditions are those that the campaign's study requires. Writes gate.json,
    gate.xml (JUnit), gate.md, gate-benchmark.json (github-action-benchmark) and gate.prom (OpenMetrics) into the
    campaign's folder. Example:

    `h123 gate my-campaign --fail-if 'latency new/base > +5%' --fail-if 'latency_p99 new > 200ms'`

    A condition may name any metric that the campaign's trials have (docs/contracts/metrics.md), whether or not the
    study names it, and any two levels. Nothing passes while trials are missing or files are damaged.
    """
    with signals_blocked():
        from h123.cli.campaigns import requirements

    raise typer.Exit(hold(campaign, requirements.forbidding(fail_if or [], by)))


def hold(path: Path, conditions: "Sequence[Condition]") -> int:
    """Hold a campaign against them, or where there are none against what its study requires; the exit status. Raises
    UserError."""
    from h123.cli.campaigns.requirements import GateResult, print_gate_files, required
    from h123.report import first_lines, print_gate, write_report
    from h123.store import CampaignFolder
    from h123.study import Study

    folder = CampaignFolder.open(path)
    requirements = conditions or required(folder)
    if not requirements:
        raise UserError(
            f"nothing to hold {path} against: its study requires nothing",
            remedy=f"say what must not be: --fail-if '{_example(Study.from_resolved(folder.study))}'",
        )
    result = GateResult(folder, requirements)
    print_gate(result.verdicts, out_console)
    for line in first_lines(result.verdicts):
        write(out_console, line)
    if (path / "report.html").exists():
        write_report(folder)
    print_gate_files(result.files)
    complain_of_damage(folder)
    return result.status


def _example(study: "Study") -> str:
    """A condition that its campaigns have values for."""
    from h123.study import METRICS

    pair = study.compare.pairs[0]
    metric = study.compare.families[0].metrics[0]
    return f"{metric} {pair} {'< 0.95' if METRICS[metric].better == 'higher' else '> 1.05'}"
