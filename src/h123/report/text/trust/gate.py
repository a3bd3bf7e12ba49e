"""What became of the conditions that a campaign was held against: it stands before everything else."""

from collections.abc import Sequence

from h123.analysis.provenance.gate import GatePart


def gate_lines(verdicts: GatePart) -> Sequence[str]:
    """The verdict first; none where nothing is required."""
    gate = verdicts.get("gate")
    return gate["lines"] if gate else []
