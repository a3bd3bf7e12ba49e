"""What is said of files that a server wrote and that are not there."""

from h123.analysis.provenance.discarded import DiscardedPart
from h123.report.text.words import level


def discarded_lines(verdicts: DiscardedPart) -> list[str]:
    """A sentence for each server, for the summary."""
    return [
        f"files that were written in {row['trials']} {'trial' if row['trials'] == 1 else 'trials'} with "
        f"{level(row['server'])} went with the lab, so that nothing changed on this machine: {row['files']}"
        for row in verdicts.get("discarded", [])
    ]
