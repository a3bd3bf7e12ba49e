"""Trials in which nothing takes time: the virtual clock, under which processing takes none, over links that take none.

Their times are the few microseconds by which each reading of the clock advances it. A ratio of such times says how
often either program looks at the clock, and nothing about what is compared.
"""

from collections.abc import Iterable, Mapping

from h123.study.networks.network import Network
from h123.study.parameters import Parameters


def timeless(parameters: Parameters, networks: Mapping[str, Network]) -> bool:
    """Whether nothing takes time in such a trial, as far as the networks' profiles are known."""
    known = [networks.get(name) for name in parameters.networks()]
    return parameters.clock == "virtual" and all(network and not network.takes_time for network in known)


def timeless_note(trials: Iterable[Parameters], networks: Mapping[str, Network]) -> str | None:
    """What a plan says of them; None where it has none."""
    names = dict.fromkeys(p.network for p in trials if timeless(p, networks))
    if not names:
        return None
    return (
        f"under the virtual clock nothing takes time over {', '.join(names)}: no delay, no rate. Unless a program "
        "waits by itself, such as a handler that sleeps, there is nothing to measure and times get no verdict there; "
        "leave it out (--only), or run it under the wall clock"
    )
