"""Describes a campaign as indexed jobs: the number of jobs, their duration, and the command that each runs."""

import math
import shlex
from dataclasses import dataclass, field
from typing import Literal

from h123.base.errors import UserError
from h123.base.units import counted, format_span

System = Literal["slurm", "kubernetes", "github"]
MOST = {"slurm": 1000, "kubernetes": 1000, "github": 256}
"""The maximum number of jobs on each system. Slurm often limits arrays to about 1000; GitHub always limits matrices to
256."""
HOSTED_S = 6 * 3600
"""The time in seconds after which GitHub ends a job on a hosted runner."""
PATIENCE = 3
"""The time limit of a job as a multiple of its planned time, before an hour for installing is added."""
TRIAL_MB = 1500
"""The memory in MB that a virtual trial needs, including its share of h123's own memory."""


@dataclass(frozen=True)
class Job:
    """The values that a template of a job file needs."""

    name: str
    """The job's name, in characters that all systems accept."""
    program: str
    """The command that starts h123, quoted for the shell."""
    study: str
    options: list[str]
    """The options of `h123 run`, except --shard and --out."""
    blocks: int
    shards: int
    longest_s: float
    """The planned time of the longest shard in seconds."""
    virtual: bool
    """Whether all trials use the virtual clock."""
    bytes: float
    """The number of bytes to collect from all shards."""
    subjects: list[str]
    cpus: int
    image: str = ""
    text: str | None = None
    """The text of the study, if it must be sent along with the job."""
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def counted_blocks(self) -> str:
        return counted(self.blocks, "block")

    def counted(self, noun: str) -> str:
        """Return the number of shards and `noun`, the system's word for a shard: `1 element`, `8 pods`."""
        return counted(self.shards, noun)

    @property
    def each(self) -> str:
        """The number of blocks per shard, in words."""
        most = math.ceil(self.blocks / self.shards)
        return "one block each" if most == 1 else f"up to {most} blocks each"

    @property
    def planned(self) -> str:
        """The planned time of the longest shard, in words."""
        return format_span(self.longest_s)

    @property
    def minutes(self) -> int:
        """The time limit of a job, in minutes."""
        return math.ceil((PATIENCE * self.longest_s + 3600) / 60)

    @property
    def memory_mb(self) -> int:
        """The memory that a job of virtual trials needs, in MB."""
        return TRIAL_MB * self.cpus

    @property
    def storage_gb(self) -> int:
        """The disk space for the shards and the joined campaign, in GB."""
        return math.ceil(2 * self.bytes / 1e9) + 1

    def run(self, index: str, *, study: str | None = None, folder: str = "shards") -> str:
        """Return the command of one job. `index` is the shell expression for its number, counted from 1."""
        words = shlex.join(["run", study or self.study, *self.options])
        return f'{self.program} {words} --shard "{index}/{self.shards}" --out "{folder}/{index}"'


def shards_of(system: System, asked: int | None, blocks: int) -> int:
    """Return the number of shards: as requested, otherwise one for each block up to the system's limit. Raises
    UserError if the system or the campaign does not allow the requested number."""
    most = min(MOST[system], blocks)
    if asked is None:
        return most
    if asked > blocks:
        raise UserError(
            f"--shards {asked}: the campaign has {counted(blocks, 'block')}, and a block stays whole on one machine",
            remedy=f"ask for at most {counted(most, 'shard')}, or for more blocks (--blocks)",
        )
    if asked > most:
        raise UserError(
            f"--shards {asked}: {system} allows at most {most} shards",
            remedy=f"ask for at most {most}; each shard then has more blocks",
        )
    return asked
