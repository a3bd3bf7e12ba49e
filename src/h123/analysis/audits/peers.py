"""Audits trials by comparing them with each other. No trial may be a copy, and the compared levels must have equal
conditions."""

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from h123.analysis.audits.finding import ALL, UNENCRYPTED, Finding, Found, PeerAudit, none_of
from h123.analysis.audits.order import pairs_of
from h123.analysis.audits.path import capacity_bits, direction, round_trip_floor_ns
from h123.base.units import figures, format_seconds
from h123.documents.trial_files import Tls
from h123.measures import Attempt
from h123.study import Plan, split_pair

THOUSANDFOLD = 500
"""A ratio that suggests a wrong unit, such as ms instead of s, with a safety factor of two. Compared levels never
differ by that much."""

OWN_SHARE = 0.5
"""The share of the margin by which the client's own delay may change a ratio."""
_BOUNDLESS = 1e9
"""The value that replaces an infinite one, which JSON cannot express."""


def times_thousandfold(attempts: Sequence[Attempt], plan: Plan) -> Found:
    """Check that an imported trial's median time is plausible. It must be below 500 times the shortest median under the
    same conditions, and below 500 times what the trial's link needs for a round trip and the bodies of all users.

    For h123's own trials, `times-beyond-run` compares the times with the duration of the client's run, which is known
    exactly.
    """
    cells: dict[Hashable, list[float]] = defaultdict(list)
    medians = [(attempt, median) for attempt in attempts if (median := _median_ns(attempt))]
    for attempt, median in medians:
        cells[_conditions(attempt, plan)].append(median)
    pairs = []
    for attempt, median in medians:
        others, needed = cells[_conditions(attempt, plan)], _needed_ns(attempt)
        bases = [("the shortest of its cell", min(others))] if len(others) > 1 else []
        bases += [("what its link needs", needed)] if needed else []
        if bases:
            what, base = min(bases, key=lambda base_value: base_value[1])
            detail = f"median {format_seconds(median * 1e-9)}, {figures(median / base)} times {what}"
            pairs.append((attempt, Finding(median < THOUSANDFOLD * base, median / base, THOUSANDFOLD, detail)))
    return pairs


def _median_ns(attempt: Attempt) -> float | None:
    latency = attempt.summary.latency_ns
    if not attempt.imported or latency is None or not 0 < latency[0] < math.inf:
        return None
    return latency[0]


def _conditions(attempt: Attempt, plan: Plan) -> Hashable:
    compared, same = plan.study.compare.factor, ("network", "users", "rate")
    cell = tuple(sorted((factor, level) for factor, level in attempt.cell.items() if factor != compared))
    return cell, tuple(attempt.workload.exchanges()), tuple(attempt.parameters[name] for name in same)


def _needed_ns(attempt: Attempt) -> float | None:
    """Return how many ns a round trip and the bodies of all users need over the link. None if this is unknown."""
    work, floor = attempt.workload, round_trip_floor_ns(attempt.link)
    size = work.body_bytes()
    if not floor or size is None:
        return None
    second = capacity_bits(direction(attempt.link, "up" if work.senders() == ["client"] else "down"), 1.0)
    return floor + (8e9 * size * (attempt.parameters["users"] or 1) / second if second else 0)


def trials_repeated(attempts: Sequence[Attempt], _: Plan) -> Found:
    """Check that no two trials have exactly the same request times. Does not apply under the virtual clock, where this
    may happen."""
    telling = [attempt for attempt in attempts if attempt.timeline.sums and not attempt.virtual]
    same: dict[Hashable, list[Attempt]] = defaultdict(list)
    for attempt in telling:
        same[attempt.timeline.sums].append(attempt)
    pairs = []
    for attempt in telling:
        others = [other.name for other in same[attempt.timeline.sums] if other is not attempt]
        pairs.append((attempt, none_of(len(others), f"the same times as {', '.join(others[:2]) or 'no other trial'}")))
    return pairs


def arms_apart(attempts: Sequence[Attempt], plan: Plan) -> Found:
    """Check that neither of two compared levels in a cell ran entirely before the other. Applies to imported samples
    whose trials are not paired in blocks, if both levels have at least two trials. For paired trials,
    `order-confounded` tests the order exactly."""
    return _of_pairs(attempts, plan, _apart)


def _apart(a: list[Attempt], b: list[Attempt]) -> Finding | None:
    if pairs_of(a, b):
        return None
    began = [[ns for attempt in side if (ns := _began_ns(attempt)) is not None] for side in (a, b)]
    if any(len(times) < 2 or len(times) < len(side) for times, side in zip(began, (a, b), strict=True)):
        return None
    apart = max(min(began[0]) - max(began[1]), min(began[1]) - max(began[0]))
    distance = f"all began at least {format_seconds(apart * 1e-9)} apart" if apart > 0 else "their trials took turns"
    return Finding(apart <= 0, None, None, distance)


def _began_ns(attempt: Attempt) -> int | None:
    """Return when an imported trial began, on the clock that all imported trials share. Return None if there is no such
    clock, or for h123's own trials."""
    return attempt.summary.warm_start_ns if attempt.imported and attempt.position is not None else None


def tls_unlike(attempts: Sequence[Attempt], plan: Plan) -> Found:
    """Check that two compared levels in a cell use the same TLS version, and that both or neither of them resume
    sessions. Applies if clients report their TLS connections, and the study does not ask for a difference."""
    return _of_pairs(attempts, plan, _unlike)


def _unlike(a: list[Attempt], b: list[Attempt]) -> Finding | None:
    if len({attempt.required_tls for attempt in (*a, *b)}) > 1:
        return None  # the study compares these
    sessions = {attempt.workload.sessions for attempt in (*a, *b)}
    sides = [_tls_names(side, apart=len(sessions) == 1) for side in (a, b)]
    if not all(sides):
        return None
    return Finding(sides[0] == sides[1], None, None, " against ".join(" and ".join(sorted(side)) for side in sides))


def client_delay(attempts: Sequence[Attempt], plan: Plan) -> Found:
    """Check that the client's own delay does not distort ratios: without it, the ratio of two levels would change by at
    most half of the margin. Applies to clients that report their delay (docs/contracts/workload.md)."""
    limit = plan.study.compare.margin * OWN_SHARE

    def hold(a: list[Attempt], b: list[Attempt]) -> Finding | None:
        shares = [[share for attempt in side if (share := _own_share(attempt)) is not None] for side in (a, b)]
        if not all(shares):
            return None
        own = [statistics.median(side) for side in shares]
        rest = [max(0.0, 1 - share) for share in own]
        off = abs(rest[0] / rest[1] - 1) if rest[1] > 0 else math.inf
        detail = f"the client itself took {own[0]:.0%} and {own[1]:.0%} of a median request"
        return Finding(off <= limit, min(off, _BOUNDLESS), limit, detail)

    return _of_pairs(attempts, plan, hold)


def _own_share(attempt: Attempt) -> float | None:
    """Return the client's own delay as a share of the median latency. None if it is unknown or under the virtual
    clock."""
    delay, latency = attempt.facts and attempt.facts.delay, attempt.summary.latency_ns
    if not delay or attempt.virtual or not latency or not 0 < latency[0] < math.inf:
        return None
    return delay.both_ns.p50 / latency[0]


def _tls_names(attempts: Iterable[Attempt], *, apart: bool) -> set[str]:
    """Return the names of the kinds of TLS that the attempts used. `apart`: distinguish resumed sessions from full
    ones."""
    names = {_tls_name(kind, resumed=apart and kind.resumed) for attempt in attempts for kind in attempt.tls}
    return names - {""}


def _tls_name(kind: Tls, *, resumed: bool) -> str:
    """Return the name of a kind of TLS, or an empty string if it is unknown."""
    version = kind.version
    words = ["no TLS" if version == UNENCRYPTED else f"TLS {version}"] if version else []
    return ", ".join([*words, "resumed"] if resumed else words)


def _of_pairs(
    attempts: Sequence[Attempt], plan: Plan, hold: Callable[[list[Attempt], list[Attempt]], Finding | None]
) -> Found:
    """Apply `hold` to the trials of each pair of compared levels. Each trial gets the finding of the first of its pairs
    that failed, or else of its last pair."""
    by_trial: dict[str, tuple[Attempt, Finding]] = {}
    for a, b, sides in _pairs(attempts, plan):
        finding = hold(*sides)
        if finding is None:
            continue
        pair_finding = Finding(finding.passed, finding.value, finding.limit, f"{a} and {b}: {finding.detail}")
        for attempt in itertools.chain(*sides):
            if attempt.name not in by_trial or by_trial[attempt.name][1].passed:
                by_trial[attempt.name] = (attempt, pair_finding)
    return list(by_trial.values())


def _pairs(attempts: Iterable[Attempt], plan: Plan) -> Iterator[tuple[str, str, tuple[list[Attempt], list[Attempt]]]]:
    compared = plan.study.compare.factor
    cells: dict[Hashable, dict[str, list[Attempt]]] = defaultdict(lambda: defaultdict(list))
    for attempt in attempts:
        others = tuple(sorted((factor, level) for factor, level in attempt.cell.items() if factor != compared))
        cells[others][attempt.cell[compared]].append(attempt)
    for levels in cells.values():
        for a, b in map(split_pair, plan.pairs):
            if a in levels and b in levels:
                yield a, b, (levels[a], levels[b])


AUDITS = [
    PeerAudit(
        "times-thousandfold",
        "No imported trial took hundreds of times as long as other trials of its cell, or as its link requires.",
        "requests took hundreds of times as long as in other trials of the cell, or as their link requires: some "
        "times are probably in a different unit, such as milliseconds read as seconds. Check the units in the schema "
        "and the files, and import again.",
        times_thousandfold,
        spoils=ALL,
    ),
    PeerAudit(
        "trials-repeated",
        "No two trials have exactly the same times, so each was measured separately.",
        "requests took exactly the same times as in another trial: one measurement is present twice, and counts twice. "
        "Import each run once.",
        trials_repeated,
        spoils=ALL,
    ),
    PeerAudit(
        "arms-apart",
        "Trials of compared levels that are not paired in blocks took turns: neither level ran entirely before the "
        "other.",
        "all trials of one level ran before the first of the other: whatever changed in between (the machine, the "
        "network, the time of day) looks like a difference between the levels. Measure the levels in turn, in random "
        "order.",
        arms_apart,
    ),
    PeerAudit(
        "tls-unlike",
        "As far as known, the compared levels use the same TLS version, and both or neither resume sessions. "
        "Handshakes, round trips and processor time depend on this.",
        "one level ran without TLS, with a different TLS version or with resumed sessions, and the other did not: the "
        "difference may come from TLS instead of the levels. Compare them with the same TLS.",
        tls_unlike,
    ),
    PeerAudit(
        "client-delay",
        "The client's own delay (its loop was late, or responses waited in its sockets) does not distort the ratio of "
        "two levels: without it, the ratio would change by at most half of the margin. Only for clients that report "
        "it.",
        "the client's own share of the time differs between the levels, and changes their ratio by more than half of "
        "the margin. Use fewer requests at once, a client that needs less time, or more processors.",
        client_delay,
    ),
]
