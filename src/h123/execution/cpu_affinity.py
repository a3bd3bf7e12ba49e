"""Chooses the processors that a trial's programs run on."""

from collections.abc import Iterable, Sequence

from h123.base.errors import UserError
from h123.base.processes import usable_processors
from h123.study import Parameters


def seats(p: Parameters, host: str, usable: Sequence[int]) -> list[int]:
    """Return the processors that a host's programs may use. An empty list means all. With `affinity: apart`, the client
    gets half of the processors, rounded down, because it has less work than all other programs together."""
    if p.affinity == "shared":
        return []
    half = (len(usable) + 1) // 2
    return list(usable[half:] if host == "client" else usable[:half])


def check_affinity(p: Parameters) -> None:
    """Raise UserError if no machine can provide the affinity."""
    if p.affinity == "apart" and p.clock == "virtual":
        raise UserError(
            "with `affinity: apart` client and server have their own processors; under the virtual clock there is"
            " one, and processing takes no time",
            remedy="leave `affinity` out, or use the wall clock",
        )


def require_processors(trials: Iterable[Parameters]) -> None:
    """Raise UserError if this machine has too few processors."""
    if any(p.affinity == "apart" for p in trials) and len(usable_processors()) < 2:
        raise UserError(
            "`affinity: apart` needs at least two processors, for the client and the server; this machine has one",
            remedy="leave `affinity` out",
            status=1,
        )
