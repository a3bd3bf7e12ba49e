"""A campaign as jobs with an index: how many, how long each takes, and the command that each runs."""

import math
import shlex
from dataclasses import dataclass, field
from typing import Literal

from h123.base.errors import UserError
from h123.base.units import format_span

System = Literal["slurm", "kubernetes", "github"]
MOST = {"slurm": 1000, "kubernetes": 1000, "github": 256}
"""Elements: Slurm's arrays are often capped at about so many, GitHub's matrices always."""
SHORTEST_S = 600
"""Shards that take less are not worth a start of their own, where h123 chooses how many there are."""
HOSTED_S = 6 * 3600
"""GitHub ends a job on a hosted runner after so long."""
PATIENCE = 3
"""A job may take so many times what is planned, and an hour for what is installed first."""
TRIAL_MB = 1500
"""Memory for a virtual trial and its part of h123."""


@dataclass(frozen=True)
class Job:
    """What a template shows."""

    name: str
    """Fit for all systems."""
    program: str
    """h123, as the shell takes it."""
    study: str
    options: list[str]
    """Of `h123 run`, but for shard and folder."""
    blocks: int
    shards: int
    longest_s: float
    """Of the shard that takes longest, as planned."""
    virtual: bool
    """Whether no trial is of the wall clock."""
    bytes: float
    """To collect."""
    subjects: list[str]
    cpus: int
    image: str = ""
    text: str | None = None
    """The study, where it goes along with the job."""
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def each(self) -> int:
        """Blocks of the largest shard."""
        return math.ceil(self.blocks / self.shards)

    @property
    def planned(self) -> str:
        """The time that the longest shard takes, in words."""
        return format_span(self.longest_s)

    @property
    def minutes(self) -> int:
        """After which a job is ended."""
        return math.ceil((PATIENCE * self.longest_s + 3600) / 60)

    @property
    def memory_mb(self) -> int:
        """Of a machine that runs virtual trials."""
        return TRIAL_MB * self.cpus

    @property
    def storage_gb(self) -> int:
        """For shards and the campaign that they are joined into."""
        return math.ceil(2 * self.bytes / 1e9) + 1

    def run(self, index: str, *, study: str | None = None, folder: str = "shards") -> str:
        """The command of one element; `index` is what the shell makes its number of, from 1."""
        words = shlex.join(["run", study or self.study, *self.options])
        return f'{self.program} {words} --shard "{index}/{self.shards}" --out "{folder}/{index}"'


def shards_of(system: System, asked: int | None, blocks: int, seconds: float) -> int:
    """How many elements. Raises UserError where the system, or the campaign, cannot have as many as are asked for."""
    most = min(MOST[system], blocks)
    if asked is None:
        return max(1, min(most, math.ceil(seconds / SHORTEST_S)))
    if asked > blocks:
        raise UserError(
            f"--shards {asked}: the campaign has {blocks} blocks, and a block stays whole on one machine",
            remedy=f"ask for at most {most} shards, or for more blocks (--blocks)",
        )
    if asked > most:
        raise UserError(
            f"--shards {asked}: {system} takes at most {most} elements",
            remedy=f"ask for at most {most}; each has more blocks",
        )
    return asked
