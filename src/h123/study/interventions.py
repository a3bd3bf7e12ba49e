"""Drafts the study of `h123 what-if`, which repeats the treatments behind an answer with each change, with some changes
combined, and with all changes together.

Each change is a level of an additional factor, whose parameters take precedence over those of the other factors. Trials
of a block that differ only in the change have the same seeds, so under the virtual clock the change is the only
difference between them.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from h123.base.transport import SETTINGS, TCP_PAYLOAD, TCP_PAYLOAD_IPV6
from h123.study.metrics.quantity import PageTime, RecoveryTime, RequestTime
from h123.study.metrics.table import METRICS, MetricName
from h123.study.networks.network import Direction, Network
from h123.study.parameters import Parameters
from h123.study.plan import LevelFilter, timeless
from h123.study.study import OF_REQUESTS, OF_VISITS, Family, Level, Study, split_pair

FACTOR = "change"
AS_IS = "as-is"
ALL = "all"
MOST_COMBINED = 3
"""The largest number of changes that are made in all combinations. Each additional change doubles the number of
combinations."""


@dataclass(frozen=True)
class Intervention:
    name: str
    words: str
    """The change in words that continue `What if`."""
    parameter: str
    value: Any
    changes: Callable[[Parameters, Network], bool]
    """Returns whether the change makes a difference to a trial with these parameters over this network."""


def _lossy(network: Network) -> bool:
    return any(
        loss is not None and (loss.mean > 0 or bool(loss.packets or loss.bytes))
        for way in _ways(network)
        for loss in (way.loss, *(change.loss for change in way.changes or []))
    ) or bool(network.records and any(r.loss is not None for r in (network.records.up, network.records.down) if r))


def _ways(network: Network) -> list[Direction]:
    return [way for way in (network.up, network.down) if way]


def _sends_other(name: Any, value: Any) -> Callable[[Parameters, Network], bool]:
    """Return a function that tests whether a trial's value of a setting differs from `value`. Over TCP, a trial that
    sets no value uses the kernel's default."""

    def changes(p: Parameters, _: Network) -> bool:
        default = None if p.protocol == "h3" else SETTINGS[name].kernel
        return bool((p.setting(name) or default) != value)

    return changes


def _shares_connections(p: Parameters, _: Network) -> bool:
    return p.kind != "page" and p.protocol != "h1" and p.connections == "shared" and p.users > 1


INTERVENTIONS = (
    Intervention("no-loss", "no packets were lost at random", "losses", "none", lambda _, n: _lossy(n)),
    Intervention(
        "no-queue-limit",
        "no queue dropped a packet",
        "queue_limit",
        "none",
        lambda _, n: any(w.queue for w in _ways(n)),
    ),
    Intervention("half-round-trip", "the delay were half", "round_trip", "half", lambda _, n: n.round_trip_ns > 0),
    Intervention(
        "no-cross-traffic", "the link had no other traffic", "cross_traffic", "none", lambda _, n: n.cross is not None
    ),
    Intervention(
        "window-32",
        "initial windows were 32 packets",
        "initial_window",
        32,
        _sends_other("initial_window", 32),
    ),
    Intervention("no-pacing", "senders did not pace", "pacing", "off", _sends_other("pacing", "off")),
    Intervention(
        "full-packets",
        "packets were as large as TCP's",
        "max_datagram",
        TCP_PAYLOAD,
        lambda p, n: p.address == "ipv4" and _sends_other("max_datagram", TCP_PAYLOAD)(p, n),
    ),
    Intervention(
        "full-packets-ipv6",
        "packets were as large as TCP's over IPv6",
        "max_datagram",
        TCP_PAYLOAD_IPV6,
        lambda p, n: p.address != "ipv4" and _sends_other("max_datagram", TCP_PAYLOAD_IPV6)(p, n),
    ),
    Intervention(
        "early-timeout",
        "TCP retransmitted after 25 ms",
        "min_rto",
        25_000_000,
        lambda p, _: p.protocol != "h3" and p.min_rto != 25_000_000,
    ),
    Intervention(
        "quick-ack",
        "TCP acknowledged at once",
        "quick_ack",
        True,
        lambda p, _: p.protocol != "h3" and not p.quick_ack,
    ),
    Intervention("own-connections", "every user had a connection", "connections", "per-user", _shares_connections),
    Intervention(
        "resumed",
        "connections resumed TLS sessions",
        "sessions",
        "resumed",
        # On a lossy link, the additional connection would change which packets are lost.
        lambda p, n: p.kind == "requests" and p.cold and p.sessions == "full" and not _lossy(n),
    ),
    Intervention(
        "small-certificate",
        "the certificate fitted one packet",
        "certificate",
        None,
        lambda p, _: p.certificate is not None,
    ),
    Intervention("bbr", "senders used BBR", "congestion", "bbr", lambda p, _: p.congestion != "bbr"),
    Intervention("cubic", "senders used CUBIC", "congestion", "cubic", lambda p, _: p.congestion != "cubic"),
)
"""The changes in the order in which they are offered. If two changes set the same parameter, only the first takes part
in combinations."""
BY_NAME: Mapping[str, Intervention] = {each.name: each for each in INTERVENTIONS}
CANNOT = {
    "flow control": "no subject lets h123 choose its windows",
    "prompt acknowledgements over QUIC": "each stack decides",
    "all requests known at once": "the load or the site decides when a request is due",
}
"""Changes that h123 cannot make, with the reasons."""

Refusal = Callable[[Sequence[Parameters]], str | None]
"""A function that returns why a subject cannot run one of the treatments, or None if the subjects can run all of
them."""


@dataclass(frozen=True)
class WhatIf:
    """A drafted study, and the changes that it leaves out."""

    study: Study
    level_filter: LevelFilter
    refused: Mapping[str, str] = field(default_factory=dict)
    """Maps the names of changes that would make a difference, but that a subject cannot run, to the reasons."""
    others: Sequence[str] = ()
    """The names of changes that would make a difference but were not requested."""


def draft_what_if(
    study: Study,
    level_filter: LevelFilter,
    pair: str,
    *,
    refusal: Refusal,
    wanted: Sequence[str] = (),
    combined: Sequence[str] = (),
    most_combined: int = MOST_COMBINED,
) -> WhatIf:
    """Return the study that asks how each change would affect the difference between the levels of `pair`.

    `level_filter` selects levels of the study. `wanted`: the names of the changes to make; if it is empty, all that
    make a difference. `combined`: the changes in the order of their importance; the first few, at most `most_combined`,
    are made in all combinations.
    """
    if not any("clock" in level for levels in study.factors.values() for level in levels.values()):
        study = study.settled(clock="virtual")
    kept = {**level_filter, study.compare.factor: list(split_pair(pair))}
    kept = {**_under_virtual_clock(study, kept), study.compare.factor: kept[study.compare.factor]}
    cells = list(_cells(study, kept))
    levels, refused, others = dict[str, Level](), dict[str, str](), list[str]()
    for each in INTERVENTIONS:
        if not any(each.changes(p, study.networks[p.network]) for p in cells):
            continue
        if wanted and each.name not in wanted:
            others.append(each.name)
        elif reason := refusal([_changed(p, {each.parameter: each.value}) for p in cells]):
            refused[each.name] = reason
        else:
            levels[each.name] = {each.parameter: each.value}
    leading = [name for name in combined if name in _one_for_each_parameter(levels)][:most_combined]
    together = _combinations(levels, leading, lambda level: refusal([_changed(p, level) for p in cells]) is None)
    return WhatIf(_with_factor(study, pair, {AS_IS: {}, **levels, **together}), kept, refused, others)


def _under_virtual_clock(study: Study, kept: LevelFilter) -> LevelFilter:
    """Return the filter without levels whose trials all run under the wall clock, or over links on which nothing takes
    time."""
    cells = list(_combined_levels(study, kept))
    usable = [cell for cell in cells if _is_usable(study, study.parameters(cell))]
    return {
        factor: [level for level in levels if any(cell[factor] == level for cell in usable)]
        for factor, levels in study.factors.items()
    }


def _is_usable(study: Study, p: Parameters) -> bool:
    return p.clock == "virtual" and study.networks[p.network].shaped and not timeless(p, study.networks)


def _combined_levels(study: Study, kept: LevelFilter) -> Iterator[dict[str, str]]:
    chosen = [[level for level in levels if level in kept.get(name, levels)] for name, levels in study.factors.items()]
    return (dict(zip(study.factors, cell, strict=True)) for cell in itertools.product(*chosen))


def _cells(study: Study, kept: LevelFilter) -> Iterator[Parameters]:
    return (p for cell in _combined_levels(study, kept) if _is_usable(study, p := study.parameters(cell)))


def _changed(p: Parameters, level: Level) -> Parameters:
    return p.model_copy(update=level)


def _combinations(
    levels: Mapping[str, Level], leading: Sequence[str], can_run: Callable[[Level], bool]
) -> dict[str, Level]:
    """Return the levels that make several changes: every combination of the `leading` changes, and all changes
    together. If two changes set the same parameter, only the first takes part."""
    exclusive = _one_for_each_parameter(levels)
    sets = [subset for size in range(2, len(leading) + 1) for subset in itertools.combinations(leading, size)]
    together = {"+".join(subset): _union(levels, subset) for subset in sets}
    everything: list[str] = []
    for name in exclusive:
        if can_run(_union(levels, [*everything, name])):
            everything.append(name)
    found = {name: level for name, level in together.items() if can_run(level)}
    whole = _union(levels, everything)
    return found if len(everything) < 2 or whole in found.values() else {**found, ALL: whole}


def _one_for_each_parameter(levels: Mapping[str, Level]) -> list[str]:
    first: dict[str, str] = {}
    for name in levels:
        first.setdefault(BY_NAME[name].parameter, name)
    return list(first.values())


def _union(levels: Mapping[str, Level], names: Sequence[str]) -> Level:
    return {parameter: value for name in names for parameter, value in levels[name].items()}


def _with_factor(study: Study, pair: str, levels: dict[str, Level]) -> Study:
    """Return the study with the additional factor and with questions about only this pair."""
    each = [*(name for name in study.factors if name != study.compare.factor), FACTOR]
    answer, cold = _metrics(study)
    families = [Family(name="answer", correction="holm", metrics=answer, each=each)]
    families += [Family(name="cold", correction="holm", metrics=cold, each=each)] if cold else []
    compare = study.compare.model_copy(
        update={
            "pairs": [pair],
            "twin": split_pair(pair)[1],
            "ladder": [],
            "charts": [],
            "as_published": False,
            "changes": FACTOR,
            "families": families,
        }
    )
    return study.model_copy(
        update={
            "name": f"{study.name[:90]}-what-if",
            "question": f"What changes the difference between {' and '.join(split_pair(pair))}?",
            "factors": {**study.factors, FACTOR: levels},
            "compare": compare,
            "filter": {},
            "require": [],
        }
    )


def _metrics(study: Study) -> tuple[list[MetricName], list[MetricName]]:
    """Return the metrics of the study's question whose time h123 divides into causes, and their counterparts for cold
    requests. If there are no such metrics, return the default metrics of requests or visits."""
    named = [name for family in study.compare.families for name in family.metrics]
    known = [name for name in study.compare.families[0].metrics if _is_whole(METRICS[name].of)]
    default = OF_VISITS if any(METRICS[name].of_visits for name in named) else OF_REQUESTS
    answer = known or list(default[0].metrics)
    return answer, [name for name in dict.fromkeys(METRICS[m].cold for m in answer) if name in named and name]


def _is_whole(of: object) -> bool:
    """Return whether a metric is the time of whole requests, visits or recoveries."""
    match of:
        case RequestTime(_, "end_ns"):
            return True
        case PageTime("complete") | RecoveryTime():
            return True
        case _:
            return False
