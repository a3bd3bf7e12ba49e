"""One treatment of a block, planned."""

from dataclasses import dataclass

from h123.study.parameters import Parameters


@dataclass(frozen=True)
class PlannedTrial:
    """One treatment, to be executed once."""

    id: str
    """Unique in the campaign and fit for a file's name: block, place in the block, levels."""
    block: int
    """From 1."""
    position: int
    """Place in the whole block's order, from 1; a filtered plan keeps it, with gaps."""
    cell: dict[str, str]
    """Factor to level."""
    twin: bool
    """Whether this is the second run of the level that runs twice."""
    parameters: Parameters
    link_seed: int
    """Seed of the link's random draws, below 2^53 so that any JSON reader keeps it."""
    lost_at: float = 0.0
    """Where in the transfer, 0 to 1, a trial that loses one packet loses it."""
    moment: float = 0.0
    """Where in the course of cross traffic, 0 to 1, its block is."""
