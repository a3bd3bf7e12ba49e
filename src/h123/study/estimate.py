"""How long a trial will take and how much it will move, said before anything runs.

An estimate to plan an afternoon by, not a prediction of results. It adds up handshakes and cold requests (round trips,
slow start), then the warm requests at the tightest of these limits:

* the link's rate, and that of the link to the storage behind the server;
* what the subjects' processors get through;
* the loss-limited rate of the connections in use (Mathis, Semke, Mahdavi, Ott, The macroscopic behavior of the TCP
  congestion avoidance algorithm, CCR 27(3), 1997) from each one's first loss on, after 1/p packets on average;
* one round trip and one serialisation for each of a user's requests, which follow one another (closed loop);
* the rate of requests asked for (open loop).

Left out: queueing delay, retransmission timeouts, blackouts, timed changes, blocked UDP, and differences between
congestion controllers, except that bbr ignores random loss.

Under the virtual clock processing takes no time of the trial's, but the trial itself takes real time: a kernel boots,
and simulates at its own pace.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from h123.study.connections import connection_count, handshake_round_trips
from h123.study.network import Direction, Network
from h123.study.parameters import Parameters
from h123.study.trial import PlannedTrial

MSS_BYTES = 1448
"""Payload of a full TCP segment at MTU 1500 with timestamps."""
WIRE_OVERHEAD = 1.05
"""Bytes on the link per body byte: packet headers, TLS records, acknowledgements the other way."""
INITIAL_WINDOW_BYTES = 10 * MSS_BYTES
"""RFC 6928."""
UNSHAPED_BPS = 2e9
"""More than subjects manage over a plain veth pair."""
PROCESSED_BPS = {
    ("h1", "GET"): 1.6e9,
    ("h1", "POST"): 0.9e9,
    ("h2", "GET"): 1.6e9,
    ("h2", "POST"): 0.9e9,
    ("h3", "GET"): 1.1e9,
    ("h3", "POST"): 0.4e9,
}
"""What client, server and storage get through on two cores, about; measured with studies/rest-api.yaml (h1: as h2)."""
UNSHAPED_ROUND_TRIP_S = 0.0003
TRIAL_OVERHEAD_S = 0.2
"""Namespaces, server start, client start, tear-down, files; measured."""
LINK_CHECK_S = 0.4
"""A link check without the delay of the link itself; once a block and network; measured."""
LINK_CHECK_ROUND_TRIPS = 4
VIRTUAL_BOOT_S = 0.4
"""Real time for a virtual kernel to start and to end; measured with bench/virtual.py."""
VIRTUAL_SPEED = 1.0
"""Virtual seconds in a real one: 0.9 measured on `medium`, 2.3 on `poor`, where more of the time is waiting."""


@dataclass(frozen=True)
class Estimate:
    """What a trial is expected to cost."""

    seconds: float
    bytes: int
    """On the links, both directions."""

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(self.seconds + other.seconds, self.bytes + other.bytes)


def estimate(trial: PlannedTrial, networks: Mapping[str, Network]) -> Estimate:
    """Wall time and bytes of one trial, without a link check (`estimate_check`); `networks` holds those it names."""
    return estimate_parameters(trial.parameters, networks)


def estimate_check(network: Network, clock: str = "wall") -> Estimate:
    """Wall time and bytes of one link check; a plain veth has none."""
    if not network.shaped:
        return Estimate(0.0, 0)
    seconds = LINK_CHECK_S + LINK_CHECK_ROUND_TRIPS * _round_trip_s(network)
    if clock == "virtual":
        seconds /= VIRTUAL_SPEED
    return Estimate(seconds, round((_rate_bps(network.up) + _rate_bps(network.down)) / 8 * LINK_CHECK_S))


def estimate_parameters(parameters: Parameters, networks: Mapping[str, Network]) -> Estimate:
    """Wall time and bytes of one trial with these parameters."""
    seconds = own_seconds(parameters, networks)
    if parameters.clock == "virtual":
        # Work that costs the trial nothing has to be done all the same.
        seconds = VIRTUAL_BOOT_S + max(seconds / VIRTUAL_SPEED, _processing_s(parameters))
    _, _, moved_behind = _storage(parameters, networks)
    loss = _Path.of(networks[parameters.network], parameters.method == "POST", parameters.congestion).loss
    moved = _requests(parameters) * _bits(parameters) / 8 / max(1 - loss, 0.01)
    return Estimate(seconds, round(moved + moved_behind))


def own_seconds(parameters: Parameters, networks: Mapping[str, Network]) -> float:
    """Seconds that one trial takes on its own clock: the one that its `trial_timeout` is of."""
    path = _Path.of(networks[parameters.network], parameters.method == "POST", parameters.congestion)
    cold = _cold_requests(parameters) * _cold_s(parameters, path)
    after_bits = _bits(parameters) if parameters.cold else 0.0
    warm = _warm_s(parameters, path, _connections(parameters), after_bits=after_bits)
    seeding, storing, _ = _storage(parameters, networks)
    if parameters.clock == "virtual":
        return seeding + cold + max(warm, storing)
    # Bodies pass the server as they come, so the slower of its two links sets the pace.
    return TRIAL_OVERHEAD_S + seeding + cold + max(warm, storing, _processing_s(parameters))


def _processing_s(parameters: Parameters) -> float:
    """What the processors need for all requests."""
    bits = _requests(parameters) * _bits(parameters)
    return bits / PROCESSED_BPS[parameters.protocol, parameters.method]


def _storage(parameters: Parameters, networks: Mapping[str, Network]) -> tuple[float, float, float]:
    """Behind the server: seconds to seed what GET asks for, seconds of the warm requests, bytes."""
    if parameters.store == "memory":
        return 0.0, 0.0, 0.0
    network = networks[parameters.backend_network] if parameters.backend_network else None
    path = _Path.of(network, parameters.method == "POST", parameters.congestion)
    # The storage's client has a connection for each request under way.
    warm = _warm_s(parameters, path, parameters.users, after_bits=0.0)
    requests = _requests(parameters)
    if parameters.method == "POST":
        return 0.0, warm, requests * _bits(parameters) / 8
    seeding = _transfer_s(parameters, _Path.of(network, True, parameters.congestion))
    return seeding, warm, (requests + 1) * _bits(parameters) / 8


def _warm_s(parameters: Parameters, path: "_Path", connections: int, *, after_bits: float) -> float:
    """All warm requests: what each connection carries, after its first bits, by itself; and all of them together."""
    each = _each(parameters)
    bits = _bits(parameters) * parameters.users * each
    alone = path.lossy_s(after_bits + bits / connections) - path.lossy_s(after_bits)
    return max(alone, bits / path.rate_bps, _pace_s(parameters, path, each))


@dataclass(frozen=True)
class _Path:
    """The direction that carries the bodies."""

    round_trip_s: float
    rate_bps: float
    loss: float
    """Share of packets whose loss slows a connection down."""

    @classmethod
    def of(cls, network: Network | None, up: bool, congestion: str) -> "_Path":
        """One way through a network; None: a plain veth pair."""
        direction = (network.up if up else network.down) if network else None
        loss = direction.loss.mean if direction and direction.loss and congestion != "bbr" else 0.0
        return cls(_round_trip_s(network), _rate_bps(direction), loss)

    def lossy_s(self, bits: float) -> float:
        """What one connection needs for its first `bits`, as far as loss limits it, at MSS / RTT * sqrt(3/2 / p)."""
        if self.loss == 0:
            return 0.0
        before_the_first_loss = MSS_BYTES * 8 / self.loss
        steady_bps = MSS_BYTES * 8 / self.round_trip_s * math.sqrt(1.5 / self.loss)
        return max(bits - before_the_first_loss, 0.0) / steady_bps


def _cold_s(parameters: Parameters, path: _Path) -> float:
    """One request on a new connection: handshake, slow start from the initial window, the transfer."""
    slow_start = math.log2(1 + parameters.size / INITIAL_WINDOW_BYTES)
    round_trips = handshake_round_trips(parameters.protocol) + 1 + slow_start
    return round_trips * path.round_trip_s + _transfer_s(parameters, path)


def _transfer_s(parameters: Parameters, path: _Path) -> float:
    """One body, after slow start."""
    return max(_bits(parameters) / path.rate_bps, path.lossy_s(_bits(parameters)))


def _requests(parameters: Parameters) -> int:
    """All of a trial, cold ones too."""
    return _cold_requests(parameters) + parameters.users * _each(parameters)


def _cold_requests(parameters: Parameters) -> int:
    return _connections(parameters) if parameters.cold else 0


def _each(parameters: Parameters) -> int:
    """Requests of one user."""
    return parameters.requests + parameters.warmup


def _pace_s(parameters: Parameters, path: _Path, each: int) -> float:
    """What users need whom nothing keeps waiting: by the asked rate, or one request after the other."""
    if parameters.rate is not None:
        return parameters.users * each / parameters.rate
    return each * (path.round_trip_s + _bits(parameters) / path.rate_bps)


def _bits(parameters: Parameters) -> float:
    """One request on the link."""
    return parameters.size * 8 * WIRE_OVERHEAD


def _connections(parameters: Parameters) -> int:
    return connection_count(parameters.connections, parameters.users, parameters.protocol)


def _round_trip_s(network: Network | None) -> float:
    return (network.round_trip_ns / 1e9 if network else 0.0) + UNSHAPED_ROUND_TRIP_S


def _rate_bps(direction: Direction | None) -> float:
    return min(direction.rate.mean_bps, UNSHAPED_BPS) if direction and direction.rate else UNSHAPED_BPS
