"""Attempts that were sound, each with one fault: what audits are for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from documents import document
from h123.documents.lab_report import FinishedReport
from h123.documents.trial_files import ClientFile, Link
from h123.measures import Attempt, Bodies, Opening
from h123.measures.visits import Visit

MS = 1_000_000


def summary(**changes: Any) -> Callable[[Attempt], Attempt]:
    return lambda a: replace(a, summary=replace(a.summary, **changes))


def parameters(**changes: Any) -> Callable[[Attempt], Attempt]:
    return lambda a: replace(a, parameters={**a.parameters, **changes})


def facts(**changes: Any) -> Callable[[Attempt], Attempt]:
    known = {"h123": "client/1"}
    return lambda a: replace(
        a, facts=document(ClientFile, {**(a.facts.model_dump(exclude_unset=True) if a.facts else known), **changes})
    )


def report(change: Callable[[dict[str, Any]], None]) -> Callable[[Attempt], Attempt]:
    def changed(attempt: Attempt) -> Attempt:
        content = attempt.report.model_dump(exclude_unset=True)
        change(content)
        return replace(attempt, report=document(FinishedReport, content))

    return changed


def timeline(**changes: Any) -> Callable[[Attempt], Attempt]:
    return lambda a: replace(a, timeline=replace(a.timeline, **changes))


def imported(attempt: Attempt) -> Attempt:
    """As if a file had told of its requests' durations alone."""
    durations = replace(attempt.summary, warm_start_ns=None, warm_end_ns=None)
    return replace(attempt, imported=True, summary=durations)


def down(content: dict[str, Any]) -> dict[str, Any]:
    directions: dict[str, Any] = content["links"][0]["directions"]["down"]
    return directions


def loaded(event: str, early: int) -> Callable[[Attempt], Attempt]:
    """As if a browser had told its page so before its document had come."""
    told = {"user": 0, "group": 0, "dom_content_loaded_ns": 20 * MS, "load_ns": 20 * MS, event: 20 * MS - early}
    seen = summary(visits=[Visit(0, 0, 0, 20 * MS, 90 * MS, failed=False)])
    return lambda a: facts(visits=[told])(seen(a))


def lose(content: dict[str, Any]) -> None:
    counters = down(content)
    counters["delivered"] -= 100
    counters["lost"] += 100


def marking(capable: int) -> Callable[[Attempt], Attempt]:
    """Over a queue that marks, to which so many packets came that it could mark."""
    codel = {"codel": {"limit": 1000, "target_ns": 5 * MS, "interval_ns": 100 * MS, "ecn": True}}

    def changed(attempt: Attempt) -> Attempt:
        if attempt.link.down is None:
            return attempt
        link = attempt.link.model_dump(exclude_unset=True)
        link["down"] = {**(link.get("down") or {}), "rate": {"bps": 10_000_000}, "queue": codel}
        counted = report(lambda r: down(r).update(ecn_capable=capable, marked=min(capable, 3)))(attempt)
        return replace(counted, link=Link.model_validate(link))

    return changed


def client_cpu(content: dict[str, Any]) -> None:
    content["roles"][1]["cpu"]["main_ns"] = int(0.93 * content["machine"]["wall_ns"])


def all_cpu(content: dict[str, Any]) -> None:
    content["machine"]["busy_ns"] = int(1.92 * content["machine"]["wall_ns"])


def late(content: dict[str, Any]) -> None:
    down(content)["lateness_ns"].update(max=8_912_895)


FAULTS: list[tuple[str, Callable[[Attempt], Attempt]]] = [
    ("goodput-above-link", lambda a: summary(warm_bytes_down=3 * (a.summary.warm_bytes_down or 0))(a)),
    ("goodput-above-link", lambda a: summary(warm_bytes_up=3 * (a.summary.warm_bytes_down or 0))(a)),
    ("request-above-link", summary(quickest_down_bytes=100_000, quickest_down_ns=78 * MS)),
    ("request-above-link", summary(quickest_up_bytes=100_000, quickest_up_ns=78 * MS)),
    ("requests-above-littles-law", lambda a: summary(warm_ok=a.summary.warm_ok * 40)(a)),
    ("requests-above-littles-law", lambda a: parameters(rate=100.0)(summary(warm_busy_ns=500 * MS)(a))),
    ("handshake-below-round-trips", summary(handshake_min_ns=48 * MS)),
    ("handshake-below-round-trips", lambda a: parameters(protocol="h2")(summary(handshake_min_ns=90 * MS)(a))),
    ("first-byte-below-round-trip", summary(ttfb_min_ns=48 * MS)),
    ("cold-below-round-trips", summary(cold_shortest_ns=97 * MS)),
    ("cold-below-round-trips", lambda a: parameters(protocol="h2")(summary(cold_shortest_ns=146 * MS)(a))),
    ("cold-below-round-trips", lambda a: facts(tls=[{"resumed": True}])(summary(cold_shortest_ns=48 * MS)(a))),
    ("request-below-round-trip", summary(shortest_ns=48 * MS)),
    # 100 kB of each of 4 users in 0.1 s are 32 Mbit/s, over a link of 10.
    ("users-above-link", lambda a: summary(warm_busy_ns=a.summary.warm * 100 * MS)(imported(a))),
    ("times-zero", summary(instant=3)),
    ("times-beyond-run", report(lambda r: r["phases_ns"].update(main=r["phases_ns"]["main"] // 1000))),
    ("rows-repeated", timeline(repeats=1)),
    ("users-exceeded", timeline(in_flight=5)),
    ("loop-still", timeline(still_ns=20_000 * MS)),
    ("loop-still", lambda a: parameters(rate=100.0)(timeline(gap_ns=300 * MS)(a))),
    ("tls-impossible", facts(tls=[{"version": "1.2"}])),
    ("request-as-trial", lambda a: summary(rows=1)(imported(a))),
    ("times-disordered", summary(disordered=1)),
    ("loaded-early", loaded("dom_content_loaded_ns", 5 * MS)),
    ("loaded-early", loaded("load_ns", 5 * MS)),
    ("size-wrong", summary(bodies=[Bodies(0, (0, 0), (99_999, 100_000))])),
    ("size-wrong", parameters(method="POST")),
    ("status-wrong", summary(refused=1)),
    ("requests-failed", summary(errors=2, first_error="reset")),
    ("requests-miscounted", summary(warm=19)),
    ("requests-miscounted", summary(cold=0)),
    ("requests-miscounted", parameters(connections=2)),
    ("requests-miscounted", parameters(cold=False)),
    ("protocol-wrong", summary(protocol_min="h2")),
    ("sessions-wrong", parameters(sessions="resumed")),
    ("round-trips-odd", lambda a: opened(opening(3))(a)),
    ("tls-wrong", facts(tls=[{"version": "1.3"}, {"version": "1.2"}])),
    ("tls-wrong", lambda a: replace(a, facts=None)),
    ("tls-wrong", parameters(tls="1.2")),
    ("client-saturated", report(client_cpu)),
    ("machine-saturated", report(all_cpu)),
    ("loss-mismatch", report(lose)),
    ("packet-late", lambda a: parameters(clock="virtual")(report(late)(a))),
    ("packets-unaccounted", report(lambda r: down(r).update(delivered=1))),
    ("lab-warned", report(lambda r: r.update(warnings=[{"code": "left-behind", "detail": "server: sleep 100"}]))),
    ("nothing-marked", marking(0)),
    ("udp-buffer-dropped", report(lambda r: r["hosts"][1]["counters"]["after"].update({"Udp.RcvbufErrors": 1}))),
    ("congestion-wrong", report(lambda r: r["hosts"][0].update(congestion="bbr"))),
    ("congestion-wrong", report(lambda r: r["hosts"][1].update(congestion="reno"))),
]


def resumed(attempt: Attempt) -> Attempt:
    """As if the study had asked for resumed sessions, and got them."""
    return parameters(sessions="resumed")(facts(tls=[{"version": "1.3", "connections": 3, "resumed": True}])(attempt))


def opened(*openings: Opening) -> Callable[[Attempt], Attempt]:
    return lambda a: replace(parameters(clock="virtual")(a), openings=openings)


def opening(round_trips: int, **what: Any) -> Opening:
    return Opening(round_trips, 2700, 2800, 4, 5, **{"losses": False, "retried": False, "limited": False, **what})


def as_its_protocol_says(attempt: Attempt) -> Attempt:
    """As if all its connections took the round trips of their protocol, but for one whose packets were lost."""
    trips = 2 if attempt.parameters["protocol"] == "h3" else 3
    return opened(opening(trips), opening(trips), opening(trips + 2, losses=True))(attempt)


TRANSFORMED: dict[str, Callable[[Attempt], Attempt]] = {
    "users-above-link": imported,
    "request-as-trial": imported,
    "sessions-wrong": resumed,
    "round-trips-odd": as_its_protocol_says,
    "nothing-marked": marking(20),
    "packet-late": parameters(clock="virtual"),
    "loaded-early": loaded("load_ns", MS),  # told in milliseconds
}
"""Audits with nothing to check in what h123 usually measures itself."""
