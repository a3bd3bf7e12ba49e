"""Computes the shortest time and the highest rate that a link allows a request: alone on the link, or if all users
share the link equally."""

from collections.abc import Collection, Mapping

from h123.analysis.as_published.rows import LinkBounds
from h123.analysis.audits.path import direction, round_trip_floor_ns
from h123.study import Network, Parameters, access_link, unrolled
from h123.study.networks.network import Direction


def bounds(
    metric: str, *, size: int | None, users: int | None, rate: float | None, round_trip: float | None
) -> LinkBounds | None:
    """Return the bounds `alone` and `share` in the metric's unit (shortest time or highest throughput), or None if the
    link has no limit.

    A request alone on a link of `rate` bit/s needs size * 8 / rate seconds for a body of `size` bytes. If `users` users
    always share the link equally, each needs `users` times as long. No first byte arrives in less than one `round_trip`
    (in seconds).

    `alone` is a limit for every single request. `share` is not, because a user who has waited for the others may then
    have the link alone. But the mean time in a closed loop is at least (users + 1) / 2 times `alone`.
    """
    if metric == "ttfb":
        return {"alone": round_trip, "share": None} if round_trip else None
    if rate is None or (metric == "latency" and size is None):
        return None
    alone = 8 * (size or 0) / rate if metric == "latency" else rate / 8
    shared = None if users is None else alone * users if metric == "latency" else alone / users
    return {"alone": alone, "share": shared}


def bounds_of_cell(
    metric: str, parameters: Parameters, networks: Mapping[str, Network], unknown: Collection[str] = ()
) -> LinkBounds | None:
    """Return the bounds of one cell of the campaign, from the network's profile.

    A rate from a trace gives no bound. If rates or delays change over time, the bounds use the highest rate and the
    lowest delay.
    """
    link = access_link(unrolled(networks[parameters.network]), parameters, 0.0)
    work = parameters.workload
    return bounds(
        metric,
        size=None if "size" in unknown else work.body_bytes(),
        users=None if "users" in unknown else parameters.users,
        rate=_rate(direction(link, "up" if work.senders() == ["client"] else "down")),
        round_trip=round_trip_floor_ns(link) / 1e9 or None,
    )


def _rate(way: Direction) -> float | None:
    rates = [way.rate, *(change.rate for change in way.changes or [] if change.rate)]
    numbers = [float(rate.bps) for rate in rates if rate and rate.bps]
    return max(numbers) if len(numbers) == len(rates) else None
