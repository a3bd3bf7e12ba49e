"""A made-up campaign with its verdicts, by docs/contracts.md: three networks, HTTP/1.1 to HTTP/3 with a twin.

The numbers are drawn, the statistics crude (a t-like interval of the paired log ratios): enough to show every part of a
page, never to judge one.
"""

import json
import math
import random
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FACTOR, LEVELS, TWIN = "protocol", ["h1", "h2", "h3"], "h2"
PAIRS = [("h3", "h2"), ("h3", "h1"), ("h2", "h1")]
METRICS = ["latency", "ttfb", "cold_latency", "cold_ttfb", "handshake", "goodput", "cpu", "cpu_server", "cpu_client"]
COMPARED = METRICS[:7]
NETWORKS: dict[str, dict[str, Any]] = {
    "lan": {"title": "unshaped veth", "rtt": 0.0004, "slow": {"h1": 1.0, "h2": 1.02, "h3": 1.9}},
    "medium": {"title": "30 ms, 20 Mbit/s, 0.5 % loss", "rtt": 0.03, "slow": {"h1": 1.03, "h2": 1.0, "h3": 0.98}},
    "poor": {"title": "50 ms, 10 Mbit/s, 2 % loss", "rtt": 0.05, "slow": {"h1": 0.86, "h2": 1.0, "h3": 0.71}},
}
LINKS: dict[str, dict[str, Any] | None] = {
    "lan": None,
    "medium": {"delay_ns": 15_000_000, "rate": {"bps": 20_000_000}, "queue": {"bytes": 100_000}, "loss": {"random": 0.005}},
    "poor": {"delay_ns": 25_000_000, "rate": {"bps": 10_000_000}, "queue": {"bytes": 125_000}, "loss": {"random": 0.02}},
}


def write_campaign(folder: Path, blocks: int = 6, seed: int = 1, valid: bool = True, question: str | None = None) -> Path:
    """A whole campaign folder; with `valid` false every trial failed, so no verdict has a value."""
    print(f"example seed {seed}")
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    events: list[dict[str, Any]] = [{"event": "campaign", "time": "2026-05-04T10:00:00Z"}]
    values: list[dict[str, Any]] = []
    for block in range(1, blocks + 1):
        treatments = [(network, level, False) for network in NETWORKS for level in LEVELS]
        treatments += [(network, TWIN, True) for network in NETWORKS]
        draw.shuffle(treatments)
        weather = {network: draw.gauss(0, 0.08) for network in NETWORKS}
        for position, (network, level, twin) in enumerate(treatments, 1):
            name = f"b{block:02}-t{position:02}-{network}-{level}" + ("-twin" if twin else "")
            attempts = [1]
            if block == 2 and position == 3 and valid:
                events.append(_event(name, 1, block, position, network, level, twin, reasons=["link-late"]))
                _write_trial(folder, f"{name}~1", network, level, None, draw)
                attempts = [2]
            for attempt in attempts:
                reasons = [] if valid else ["client-timeout"]
                events.append(_event(name, attempt, block, position, network, level, twin, reasons))
                metrics = _metrics(network, level, weather[network], draw) if valid else None
                _write_trial(folder, f"{name}~{attempt}", network, level, metrics, draw)
                if metrics:
                    cell = {"network": network, FACTOR: level}
                    row = {"trial": f"{name}~{attempt}", "block": block, "position": position, "cell": cell, "twin": twin}
                    values.append({**row, "metrics": metrics})
    events.append({"event": "finished" if valid else "interrupted", "time": "2026-05-04T10:05:00Z"})
    (folder / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    (folder / "study.yaml").write_text("h123: study/1\nname: quick\n")
    (folder / "campaign.json").write_text(json.dumps(_campaign(blocks, question)))
    verdicts = make_verdicts(values, blocks, question)
    (folder / "verdicts.json").write_text(json.dumps(verdicts))
    return folder


def comparison(**changes: Any) -> dict[str, Any]:
    """One comparison by contract, for sentences."""
    given: dict[str, Any] = {
        "cell": {"network": "poor"}, "workload": "GET 100 kB", "metric": "latency", "a": "h3", "b": "h2", "twin": False,
        "blocks": 6, "a_median": 0.71, "b_median": 1.0, "ratio": 0.71, "low": 0.64, "high": 0.78, "confidence": 0.96875,
        "p": 0.03125, "p_attainable": 0.03125, "p_adjusted": 0.03125, "p_equivalent": 0.9, "p_equivalent_adjusted": 0.9,
        "family": "answer/poor", "family_size": 1, "correction": "holm", "verdict": "faster", "note": None, "pairs": [],
    }  # fmt: skip
    return {**given, **changes}


def make_verdicts(values: list[dict[str, Any]], blocks: int, question: str | None = None) -> dict[str, Any]:
    """verdicts.json over the drawn values."""
    by_cell: dict[Any, dict[int, dict[str, float]]] = defaultdict(dict)
    for row in values:
        by_cell[row["cell"]["network"], row["cell"][FACTOR], row["twin"]][row["block"]] = row["metrics"]
    comparisons = []
    for metric in COMPARED:
        for network in NETWORKS:
            for a, b in [*PAIRS, (TWIN, TWIN)]:
                first, second = by_cell[network, a, a == b], by_cell[network, b, False]
                comparisons.append(_compare(metric, network, a, b, first, second))
    twins = [c for c in comparisons if c["twin"] and c["p"] is not None]
    rejected = sum(c["p"] <= 0.05 for c in twins)
    trials = 12 * blocks
    audits = [
        {"audit": "goodput-above-link", "trial": r["trial"], "passed": True, "value": 0.9, "limit": 1.02, "detail": ""}
        for r in values
    ]
    audits += [
        {"audit": "client-saturated", "trial": r["trial"], "passed": i != 7, "value": 0.97 if i == 7 else 0.4, "limit": 0.9,
         "detail": "client used 97 % of one processor" if i == 7 else ""}
        for i, r in enumerate(values)
    ]  # fmt: skip
    return {
        "h123": "verdicts/1", "campaign": "quick-20260504", "study": "quick", "factor": FACTOR, "margin": 0.05,
        "question": question or "Which HTTP version serves small downloads faster, and on which network?",
        "alpha": 0.05, "seed": 1, "blocks": {"planned": blocks, "complete": blocks if values else 0},
        "attainable_p": 2 / 2**blocks if values else None,
        "trials": {"planned": trials, "valid": len(values), "invalid": 1 if values else trials, "missing": trials - len(values)},
        "comparisons": comparisons, "audits": audits, "values": values,
        "twins": {"comparisons": len(twins), "rejected": rejected, "rate": rejected / len(twins) if twins else None,
                  "expected": 0.05},
        "audit_summary": [
            {"audit": "goodput-above-link", "checked": len(values), "failed": 0,
             "meaning": "No trial may move more bytes than its link could have carried."},
            {"audit": "client-saturated", "checked": len(values), "failed": min(1, len(values)),
             "meaning": "A client at the limit of its processor measures itself, not the server."},
        ],
    }  # fmt: skip


def _compare(metric: str, network: str, a: str, b: str, first: dict[int, Any], second: dict[int, Any]) -> dict[str, Any]:
    shared = sorted(first.keys() & second.keys())
    pairs = [
        {"block": n, "a": first[n][metric], "b": second[n][metric], "ratio": first[n][metric] / second[n][metric]}
        for n in shared
    ]
    answer = metric == "latency" and (a, b) == PAIRS[0]
    made = comparison(
        cell={"network": network}, metric=metric, a=a, b=b, twin=a == b, blocks=len(shared), pairs=pairs,
        family=None if a == b else f"answer/{network}" if answer else "details", correction="holm" if answer else "bh",
        family_size=1 if answer else 60,
    )  # fmt: skip
    statistics_of = ["a_median", "b_median", "ratio", "low", "high", "confidence"]
    tests = ["p", "p_attainable", "p_adjusted", "p_equivalent", "p_equivalent_adjusted"]
    if not pairs:
        return made | dict.fromkeys([*statistics_of, *tests]) | {"verdict": "inconclusive", "note": "no complete block"}
    logs = [math.log(pair["ratio"]) for pair in pairs]
    centre, attainable = statistics.fmean(logs), 2 / 2 ** len(pairs)
    made |= {"ratio": math.exp(centre), "p_attainable": attainable}
    made |= {"a_median": statistics.median(p["a"] for p in pairs), "b_median": statistics.median(p["b"] for p in pairs)}
    if len(pairs) < 6:
        note = f"{len(pairs)} blocks: p cannot fall below {attainable:.3g}"
        made |= {"low": None, "high": None, "confidence": None, "p": 1.0, "p_adjusted": 1.0}
        return made | {"verdict": "inconclusive", "note": note}
    half = 2.6 * statistics.stdev(logs) / math.sqrt(len(logs))
    low, high = math.exp(centre - half), math.exp(centre + half)
    p = attainable if low > 1 or high < 1 else 0.4
    if low > 0.95 and high < 1.05:
        verdict = "equivalent"
    elif p > 0.05:
        verdict = "inconclusive"
    else:
        verdict = "faster" if (high < 1) == (metric != "goodput") else "slower"
    return made | {"low": low, "high": high, "confidence": 0.96875, "p": p, "p_adjusted": p, "verdict": verdict}


def _metrics(network: str, level: str, weather: float, draw: random.Random) -> dict[str, float]:
    rtt, slow = NETWORKS[network]["rtt"], NETWORKS[network]["slow"][level]
    noise = {"lan": 0.012, "medium": 0.05, "poor": 0.05}[network]

    def around(value: float, own: float = noise) -> float:
        return value * math.exp(weather + draw.gauss(0, own))

    trips = {"h1": 2, "h2": 2, "h3": 1}[level]
    latency = around((rtt * 3 + 0.002) * slow)
    server, client = around({"h1": 2e-4, "h2": 2.6e-4, "h3": 5e-4}[level]), around({"h1": 3e-4, "h2": 4e-4, "h3": 8e-4}[level])
    ttfb, handshake = around(rtt * 1.1 + 4e-4), around(rtt * trips + 1.5e-3)
    return {
        "latency": latency, "ttfb": ttfb, "goodput": 4 * 8e5 / latency, "handshake": handshake,
        "cold_latency": handshake + around(latency * 1.6), "cold_ttfb": handshake + ttfb,
        "cpu": server + client, "cpu_server": server, "cpu_client": client,
    }  # fmt: skip


def _event(
    trial: str, attempt: int, block: int, position: int, network: str, level: str, twin: bool, reasons: list[str]
) -> dict[str, Any]:
    details = {"link-late": "release lateness p99 2.1 ms is above 1.25 ms on access/down", "client-timeout": "after 120 s"}
    return {
        "event": "trial", "time": "2026-05-04T10:01:00Z", "trial": trial, "attempt": attempt, "block": block,
        "position": position, "cell": {"network": network, FACTOR: level}, "twin": twin, "link_seed": 17 * block,
        "parameters": {"network": network, "protocol": level, "server": "go", "client": "go", "method": "GET", "size": 100_000},
        "valid": not reasons, "reasons": [{"code": code, "detail": details[code]} for code in reasons], "seconds": 3.2,
    }  # fmt: skip


def _write_trial(
    folder: Path, name: str, network: str, level: str, metrics: dict[str, float] | None, draw: random.Random
) -> None:
    trial = folder / "trials" / name
    trial.mkdir(parents=True)
    link = LINKS[network]
    ends = {"name": "access", "a": {"host": "client", "address": "10.1.0.1"}, "b": {"host": "server", "address": "10.1.0.2"}}
    links = [{**ends, "kind": "emulated", "up": link, "down": link} if link else {**ends, "kind": "veth"}]
    (trial / "trial.json").write_text(json.dumps({"h123": "trial/1", "id": name, "links": links}))
    report = {"h123": "report/1", "id": name, "valid": metrics is not None, "reasons": [], "warnings": []}
    report |= {"links": [_link_report(link, draw)], "hosts": [{"name": h, "congestion": "cubic"} for h in ("client", "server")]}
    (trial / "report.json").write_text(json.dumps(report))
    if metrics is None:
        return
    tls = {"version": "1.3", "cipher": "TLS_AES_128_GCM_SHA256", "key_exchange": "X25519", "alpn": level, "connections": 1}
    (trial / "client.json").write_text(json.dumps({"h123": "client/1", "tls": [tls], "congestion": "cubic", "notes": []}))
    pq.write_table(_samples(level, metrics, draw), trial / "samples.parquet", compression="zstd")


def _link_report(link: dict[str, Any] | None, draw: random.Random) -> dict[str, Any]:
    if link is None:
        return {"name": "access", "kind": "veth", "check": None}
    share = link["loss"]["random"]

    def both(make: Any) -> dict[str, Any]:
        return {"up": make(), "down": make()}

    def delay() -> dict[str, Any]:
        p50 = draw.randint(40_000, 90_000)
        return {"probes": 200, "lost": 2, "error_ns": {"p50": p50, "p99": p50 * 4, "max": p50 * 7}}

    def lateness() -> dict[str, Any]:
        return {"p50": 30_000, "p99": draw.randint(150_000, 420_000), "p999": 900_000, "max": 1_500_000, "histogram": []}

    bps = link["rate"]["bps"]
    check = {
        "delay": both(delay),
        "rate": both(lambda: {"configured_bps": bps, "measured_bps": int(bps * draw.uniform(0.995, 1.0))}),
        "loss": both(lambda: {"sent": 1000, "lost": int(1000 * share * draw.uniform(0.8, 1.2)), "low": 1, "high": 60}),
        "passed": True,
        "failures": [],
    }
    directions = both(lambda: {"packets_in": 3000, "lost": int(3000 * share), "delivered": 2900, "lateness_ns": lateness()})
    return {"name": "access", "kind": "emulated", "realtime": True, "check": check, "directions": directions}


def _samples(level: str, metrics: dict[str, float], draw: random.Random) -> pa.Table:
    rows = []
    for index in range(21):
        cold = index == 0
        start = index * 1_000_000_000
        took = metrics["cold_latency"] if cold else metrics["latency"] * math.exp(draw.gauss(0, 0.25) + (draw.random() > 0.9))
        end = start + int(took * 1e9)
        rows.append({
            "phase": "cold" if cold else "warm", "user": 0, "start_ns": start, "end_ns": end, "status": 200,
            "connected_ns": start + int(metrics["handshake"] * 1e9) if cold else None, "sent_ns": start + 1000,
            "first_byte_ns": start + (end - start) // 2, "bytes_up": 0, "bytes_down": 100_000, "protocol": level,
            "connection": 0, "reused": int(not cold), "error": "",
        })  # fmt: skip
    return pa.Table.from_pylist(rows)


def _campaign(blocks: int, question: str | None) -> dict[str, Any]:
    compare = {"factor": FACTOR, "pairs": ["/".join(pair) for pair in PAIRS], "twin": TWIN, "margin": 0.05, "alpha": 0.05}
    study = {
        "h123": "study/1", "name": "quick", "question": question or "Which HTTP version?", "compare": compare,
        "factors": {FACTOR: LEVELS, "network": list(NETWORKS)}, "settings": {"server": "go", "client": "go"},
        "blocks": blocks, "seed": 1,
    }  # fmt: skip
    networks = {name: {"h123": "network/1", "name": name, "title": given["title"]} for name, given in NETWORKS.items()}
    return {
        "h123": "campaign/1", "study": study, "networks": networks, "seed": 1, "blocks": blocks, "only": {},
        "version": "0.1.0", "created": "2026-05-04T10:00:00Z",
        "machine": {"kernel": "6.18.5", "system": "Debian 12", "cpus": 2, "processor": "AMD EPYC", "memory_bytes": 8_000_000_000},
        "subjects": {"go": {"version": "0.65.0", "stack": "quic-go", "language": "Go"}},
    }  # fmt: skip
