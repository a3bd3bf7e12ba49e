"""The places in which trials ran, in words."""

from collections.abc import Sequence

from h123.analysis.provenance.places import PlacesPart
from h123.base.units import format_bytes
from h123.documents.campaign_file import MachineFacts


def machine(facts: MachineFacts) -> str:
    """Processor and memory of a machine."""
    cores = f"{facts.get('cpus_usable')} of {facts.get('cpus')} processors"
    virtual = ", virtual" if facts.get("virtual") else ""
    return f"{facts.get('cpu')}{virtual}; {cores}; {format_bytes(facts.get('memory_bytes') or 0)}"


def place_lines(verdicts: PlacesPart) -> list[str]:
    """What a reader must know where a campaign has more than one place."""
    rows = verdicts.get("places", [])
    if not rows:
        return []
    said = "; ".join(f"{row['name']}: {_blocks(row['blocks'])}" for row in rows)
    return [f"trials ran in {len(rows)} places, each block whole in one ({said})"]


def place_rows(verdicts: PlacesPart) -> list[tuple[str, str]]:
    """What each place is."""
    return [
        (f"place {row['name']}", f"{_blocks(row['blocks'])}; {machine(row['machine'])}")
        for row in verdicts.get("places", [])
    ]


def _blocks(numbers: Sequence[int]) -> str:
    return f"block{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
