"""How long a trial will take and how much it will move, said before anything runs.

An estimate to plan an afternoon by, not a prediction of results. It adds up handshakes and cold requests (round trips,
slow start), then the warm requests at the tightest of these limits:

* the link's rate;
* the loss-limited rate of the connections in use: Mathis, Semke, Mahdavi, Ott, The macroscopic behavior of the TCP
  congestion avoidance algorithm, CCR 27(3), 1997;
* one round trip and one serialisation for each of a user's requests, which follow one another (closed loop);
* the rate of requests asked for (open loop).

Left out: queueing delay, retransmission timeouts, blackouts, timed changes, blocked UDP, CPU time of the subjects
beyond a plain veth's limit, and differences between congestion controllers, except that bbr ignores random loss.
"""

import math
from dataclasses import dataclass

from h123.study.network import Direction, Network
from h123.study.parameters import Parameters
from h123.study.trial import PlannedTrial

MSS_BYTES = 1448
"""Payload of a full TCP segment at MTU 1500 with timestamps."""
WIRE_OVERHEAD = 1.05
"""Bytes on the link per body byte: packet headers, TLS records, acknowledgements the other way."""
INITIAL_WINDOW_BYTES = 10 * MSS_BYTES
"""RFC 6928."""
HANDSHAKE_ROUND_TRIPS = {"h1": 2, "h2": 2, "h3": 1}
"""Before the first request: TCP and TLS 1.3, or QUIC."""
UNSHAPED_BPS = 1e9
"""What the subjects themselves manage over a plain veth pair, about."""
UNSHAPED_ROUND_TRIP_S = 0.0003
TRIAL_OVERHEAD_S = 0.35
"""Namespaces, server start, client start, tear-down, files."""
LINK_CHECK_S = 4.0
"""A link check without the delay of the link itself; once a block and network."""
LINK_CHECK_ROUND_TRIPS = 10


@dataclass(frozen=True)
class Estimate:
    """What a trial is expected to cost."""

    seconds: float
    bytes: int
    """On the links, both directions."""


def estimate(trial: PlannedTrial, network: Network) -> Estimate:
    """Wall time and bytes of one trial, without a link check (`estimate_check`)."""
    return estimate_parameters(trial.parameters, network)


def estimate_check(network: Network) -> Estimate:
    """Wall time and bytes of one link check; a plain veth has none."""
    if not network.shaped:
        return Estimate(0.0, 0)
    seconds = LINK_CHECK_S + LINK_CHECK_ROUND_TRIPS * _round_trip_s(network)
    rates = [direction.rate.mean_bps for direction in (network.up, network.down) if direction and direction.rate]
    return Estimate(seconds, round(sum(rates) / 8))


def estimate_parameters(parameters: Parameters, network: Network) -> Estimate:
    """Wall time and bytes of one trial with these parameters."""
    loaded = network.down if parameters.method == "GET" else network.up
    path = _Path(_round_trip_s(network), _rate_bps(loaded), _loss(loaded))
    connections = _connections(parameters)
    body = parameters.size * 8 * WIRE_OVERHEAD
    cold = connections * _cold_s(parameters, path) if parameters.cold else 0.0
    warm = _warm_s(parameters, path, body, connections)
    requests = parameters.users * (parameters.requests + parameters.warmup) + (connections if parameters.cold else 0)
    sent = requests * parameters.size * WIRE_OVERHEAD / max(1 - path.loss, 0.01)
    return Estimate(TRIAL_OVERHEAD_S + cold + warm, round(sent))


@dataclass(frozen=True)
class _Path:
    round_trip_s: float
    rate_bps: float
    loss: float

    def connection_bps(self, congestion: str) -> float:
        """What one long connection reaches: MSS / RTT * sqrt(3/2) / sqrt(p), at most the link's rate."""
        if congestion == "bbr" or self.loss == 0:
            return self.rate_bps
        return min(self.rate_bps, MSS_BYTES * 8 / self.round_trip_s * math.sqrt(1.5 / self.loss))


def _cold_s(parameters: Parameters, path: _Path) -> float:
    """One request on a new connection: handshake, then slow start from the initial window, then the steady rate."""
    slow_start = math.log2(1 + parameters.size / INITIAL_WINDOW_BYTES)
    round_trips = HANDSHAKE_ROUND_TRIPS[parameters.protocol] + 1 + slow_start
    transfer = parameters.size * 8 * WIRE_OVERHEAD / path.connection_bps(parameters.congestion)
    return round_trips * path.round_trip_s + transfer


def _warm_s(parameters: Parameters, path: _Path, body_bits: float, connections: int) -> float:
    """All users' requests, at the tightest limit."""
    each = parameters.requests + parameters.warmup
    together_bps = min(path.rate_bps, connections * path.connection_bps(parameters.congestion))
    transfer = parameters.users * each * body_bits / together_bps
    alone = each * (path.round_trip_s + body_bits / path.rate_bps)
    if parameters.rate is None:
        return max(transfer, alone)
    return max(transfer, parameters.users * each / parameters.rate)


def _connections(parameters: Parameters) -> int:
    """As in the contract: shared means one, except for HTTP/1.1, which cannot."""
    if parameters.connections == "shared":
        return parameters.users if parameters.protocol == "h1" else 1
    return parameters.users if parameters.connections == "per-user" else parameters.connections


def _round_trip_s(network: Network) -> float:
    return network.round_trip_ns / 1e9 + UNSHAPED_ROUND_TRIP_S


def _rate_bps(direction: Direction | None) -> float:
    return min(direction.rate.mean_bps, UNSHAPED_BPS) if direction and direction.rate else UNSHAPED_BPS


def _loss(direction: Direction | None) -> float:
    return direction.loss.mean if direction and direction.loss else 0.0
