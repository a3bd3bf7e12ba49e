"""What became of the conditions that a campaign was held against: it stands before everything else."""

from collections.abc import Mapping, Sequence
from typing import Any


def gate_lines(verdicts: Mapping[str, Any]) -> Sequence[str]:
    """The verdict first; none where nothing is required."""
    found: Sequence[str] = (verdicts.get("gate") or {}).get("lines", [])
    return found
