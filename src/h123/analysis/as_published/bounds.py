"""The link's best values for one request: if it has the link to itself, and if all users share the link equally."""

from collections.abc import Collection, Mapping

from h123.analysis.as_published.rows import LinkBounds
from h123.analysis.audits.path import direction, round_trip_floor_ns
from h123.study import Network, Parameters
from h123.study.networks.network import Direction


def bounds(
    metric: str, *, size: int | None, users: int | None, rate: float | None, round_trip: float | None
) -> LinkBounds | None:
    """`alone` and `share` in the metric's unit: the least time or the most throughput. None if there is no limit.

    A body of `size` bytes takes size * 8 / rate seconds on a link of `rate` bit/s that it has to itself, and `users`
    times as long where all of them always share it equally; no first byte comes before one `round_trip` (seconds).
    Alone is a limit for every request. The share is not: who waits for the others may then go alone. But the mean time
    of users who ask again and again cannot fall below (users + 1) / 2 times a request's time alone.
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
    """The bounds of one cell of the campaign, from the profile of the link between client and server.

    Rates from a trace have none; of changing rates, the highest counts, and of changing delays, the lowest.
    """
    link, work = networks[parameters.network], parameters.workload
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
