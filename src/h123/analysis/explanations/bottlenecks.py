"""Finds what limited each treatment: a processor, a window, or the link.

Over an emulated link, packets show how requests spent their time on average (`causes`). Over a plain veth only
processing takes time, and processor times show how much of the time the client and the server worked.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from h123.analysis.case import Case
from h123.analysis.comparisons.comparison import Cell
from h123.analysis.explanations.causes import TrialExplanations
from h123.causes import CAUSES
from h123.measures import Attempt, Usage

CLIENT, SERVER = "the client's processor", "the server's processor"
WAITING: Final = "waiting"
"""The name of the limit if neither side worked for most of the time."""
_WINDOW, _RATE, _TRIPS = "a window", "the link's rate", "round trips"
_GROUPS: Mapping[str, str] = {
    "client-work": CLIENT,
    "server-work": SERVER,
    **dict.fromkeys(("slow-start", "window", "cut", "marked", "limit", "drops"), _WINDOW),
    **dict.fromkeys(("rate", "queue", "cross"), _RATE),
    **dict.fromkeys(("connecting", "amplification", "retry", "blocked", "trip"), _TRIPS),
    **dict.fromkeys(("mending", "queue-loss", "policed"), "losses"),
    **dict.fromkeys(("gone", "validating", "anew"), "a path that is gone"),
}
"""The group to which a cause belongs. A cause without an entry is its own group."""
BUSY = 0.9
"""The share of one processor from which a single-threaded program has no capacity left."""
MOST = 0.5
"""The smallest share of the time that counts as most of it."""
_WARM: Final = "warm"
_AT_CLIENT, _AT_SERVER = "waiting at the client", "waiting at the server"


@dataclass(frozen=True)
class Bottlenecks:
    """The shares of one treatment's time, as means over its trials."""

    cell: Cell
    told_by: Literal["packets", "processors"]
    shares: Mapping[str, float]
    """The shares, largest first. From packets: shares of a mean request's time. From processor times: the share of time
    in which a side worked or waited for a processor, which can exceed 1 with several threads."""

    @property
    def limits(self) -> list[str]:
        """What limited the treatment. If packets show it, this is the largest part of a request's time. Otherwise,
        these are the roles that had no capacity left, or if there are none, the role that worked for most of the time,
        or `WAITING`."""
        largest = next(iter(self.shares))
        if self.told_by == "packets":
            return [largest]
        full = [role for role, share in self.shares.items() if share >= BUSY]
        return full or ([largest] if self.shares[largest] >= MOST else [WAITING])


def bottlenecks(case: Case) -> list[Bottlenecks]:
    """Return the bottlenecks of each treatment for which they are known, in the order in which the treatments first
    ran."""
    explanations = TrialExplanations(case)
    of: dict[tuple[tuple[str, str], ...], list[Attempt]] = {}
    for attempt in case.attempts:
        if not attempt.twin and not attempt.imported:
            of.setdefault(tuple(sorted(attempt.cell.items())), []).append(attempt)
    rows = [row for mine in of.values() if (row := _by_packets(explanations, mine) or _by_processors(mine)) is not None]
    explanations.keep()
    return rows


def _by_packets(explanations: TrialExplanations, attempts: Sequence[Attempt]) -> Bottlenecks | None:
    """Return what warm requests spent their time on, or None if the link recorded no packets."""
    seconds = [means[_WARM].seconds for attempt in attempts if _WARM in (means := explanations.of(attempt))]
    if not seconds:
        return None
    mean, waits = np.mean(seconds, axis=0), _no_work(attempts[0])
    shares: dict[str, float] = {}
    for cause, duration in zip(CAUSES, mean, strict=True):
        group = _GROUPS.get(cause.name, cause.words)
        group = waits.get(group, group)
        shares[group] = shares.get(group, 0.0) + float(duration / mean.sum())
    return Bottlenecks(attempts[0].cell, "packets", _largest_first(shares.items()))


def _no_work(attempt: Attempt) -> Mapping[str, str]:
    """Return new names for causes that look like processing but are not, as a map from their usual names. Under the
    virtual clock, processing in the client and server takes no time. Over HTTP/1.1 with more users than connections,
    requests wait at the client for a free connection."""
    p = attempt.parameters
    crowded = p["protocol"] == "h1" and isinstance(p["connections"], int) and p["connections"] < p["users"]
    waits = {CLIENT: _AT_CLIENT} if attempt.virtual or crowded else {}
    return waits | ({SERVER: _AT_SERVER} if attempt.virtual else {})


def _by_processors(attempts: Sequence[Attempt]) -> Bottlenecks | None:
    """Return the shares from processor times. None under the virtual clock, where processing takes no time, or if there
    are no reports of processor time."""
    shares_by_role = [shares for attempt in attempts if not attempt.virtual and (shares := dict(_at_work(attempt)))]
    if not shares_by_role:
        return None
    mean = {role: float(np.mean([roles[role] for roles in shares_by_role])) for role in (CLIENT, SERVER)}
    return Bottlenecks(attempts[0].cell, "processors", _largest_first(mean.items()))


def _at_work(attempt: Attempt) -> Iterator[tuple[str, float]]:
    """Yield the share of the warm phase in which the client, and the server, used or waited for a processor. If the
    phase has too few samples, use the whole run."""
    report, summary = attempt.report, attempt.summary
    roles = {role.name: role.cpu for role in report.roles}
    if not {"client", "server"} <= roles.keys() or not report.machine.wall_ns:
        return
    for name, cpu in (("client", roles["client"]), ("server", roles["server"])):
        used, time = float(cpu.main_ns), report.machine.wall_ns
        usage = Usage.of(report, [name])
        if usage and summary.warm_start_ns is not None and summary.warm_end_ns is not None:
            warm = usage.between(summary.warm_start_ns, summary.warm_end_ns)
            if warm is not None:
                used, time = warm, summary.warm_end_ns - summary.warm_start_ns
        waits = 1 + (cpu.main_wait_ns or 0) / max(cpu.main_ns, 1)
        yield (CLIENT if name == "client" else SERVER), used * waits / time


def _largest_first(shares: Iterable[tuple[str, float]]) -> dict[str, float]:
    return dict(sorted(shares, key=lambda share: -share[1]))
