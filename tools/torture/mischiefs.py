"""Lists all mischiefs that can happen to a round, and how often each does."""

from collections.abc import Callable
from dataclasses import dataclass

from clocks import another_uptime, pauses
from company import company
from damage import cut_journal, deleted_trial, flips
from kills import kills
from rounds import Round
from scarcity import few_processes, full_disk, limits, read_only_disk


@dataclass(frozen=True)
class Mischief:
    """A mischief and its weight among all of them."""

    weight: int
    play: Callable[[Round], None]


MISCHIEFS = {
    "kills": Mischief(35, kills),
    "full-disk": Mischief(12, full_disk),
    "read-only-disk": Mischief(4, read_only_disk),
    "limits": Mischief(10, limits),
    "few-processes": Mischief(4, few_processes),
    "pauses": Mischief(6, pauses),
    "another-uptime": Mischief(4, another_uptime),
    "flips": Mischief(10, flips),
    "cut-journal": Mischief(4, cut_journal),
    "deleted-trial": Mischief(3, deleted_trial),
    "company": Mischief(8, company),
}
