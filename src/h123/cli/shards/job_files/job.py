"""A campaign as indexed jobs: how many, how long each takes, and the command that each runs."""

import math
import shlex
from dataclasses import dataclass, field
from typing import Literal

from h123.base.errors import UserError
from h123.base.units import format_span

System = Literal["slurm", "kubernetes", "github"]
MOST = {"slurm": 1000, "kubernetes": 1000, "github": 256}
"""The most elements: Slurm often limits arrays to about this number, GitHub always limits matrices."""
HOSTED_S = 6 * 3600
"""The time after which GitHub ends a job on a hosted runner."""
PATIENCE = 3
"""The time limit of a job, as a multiple of its planned time, plus an hour to install what it needs."""
TRIAL_MB = 1500
"""Memory for a virtual trial and its share of h123."""


@dataclass(frozen=True)
class Job:
    """The values for a template."""

    name: str
    """A name that all systems accept."""
    program: str
    """The h123 program, quoted for the shell."""
    study: str
    options: list[str]
    """Options of `h123 run`, except shard and folder."""
    blocks: int
    shards: int
    longest_s: float
    """The planned time of the longest shard."""
    virtual: bool
    """Whether all trials use the virtual clock."""
    bytes: float
    """Bytes to collect."""
    subjects: list[str]
    cpus: int
    image: str = ""
    text: str | None = None
    """The study's text, if it must be sent along with the job."""
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def each(self) -> str:
        """The number of blocks of a shard, in words."""
        most = math.ceil(self.blocks / self.shards)
        return "one block each" if most == 1 else f"up to {most} blocks each"

    @property
    def planned(self) -> str:
        """The time that the longest shard takes, in words."""
        return format_span(self.longest_s)

    @property
    def minutes(self) -> int:
        """The time limit of a job."""
        return math.ceil((PATIENCE * self.longest_s + 3600) / 60)

    @property
    def memory_mb(self) -> int:
        """Memory of a machine that runs virtual trials."""
        return TRIAL_MB * self.cpus

    @property
    def storage_gb(self) -> int:
        """Disk space for the shards and the campaign that they are joined into."""
        return math.ceil(2 * self.bytes / 1e9) + 1

    def run(self, index: str, *, study: str | None = None, folder: str = "shards") -> str:
        """The command of one element; `index` is the shell's expression for its number, from 1."""
        words = shlex.join(["run", study or self.study, *self.options])
        return f'{self.program} {words} --shard "{index}/{self.shards}" --out "{folder}/{index}"'


def shards_of(system: System, asked: int | None, blocks: int) -> int:
    """The number of elements: one for each block, if the system allows it, unless another number is requested. Raises
    UserError if the system or the campaign cannot have as many as requested."""
    most = min(MOST[system], blocks)
    if asked is None:
        return most
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
