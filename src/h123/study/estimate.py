"""Estimates how long a trial will take and how many bytes it will move, before anything runs.

The estimate adds the time of handshakes and cold requests (round trips, slow start) to the time of the warm requests,
which is set by the tightest of these limits:

* the rate of the link, and of the link between the server and its storage or origin;
* the rate at which the subjects process bodies;
* the rate to which a loss probability of p limits the connections in use (Mathis, Semke, Mahdavi, Ott, CCR 27(3),
  1997), after a connection's first loss, which happens after 1/p packets on average;
* in a closed loop, one round trip and one transmission for each request of a user, who sends one request at a time;
* in an open loop, the requested rate.

Constant cross traffic takes its rate from the link. Bulk cross traffic leaves the trial as much of the rate as each
bulk connection takes.

The estimate ignores queueing delay, retransmission timeouts, blackouts, timed changes, blocked UDP, and differences
between congestion controllers, except that bbr ignores random loss.

Under the virtual clock, processing takes no virtual time, and waiting takes no real time. A trial then takes as much
real time as its packets and requests take processor time (docs/virtual-clock.md).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from h123.study.changes.access_link import access_link
from h123.study.networks.network import Direction, Network
from h123.study.parameters import Parameters, PlannedTrial
from h123.study.round_trips import INITIAL_WINDOW_BYTES, MSS_BYTES, handshake_round_trips
from h123.study.workload import WorkloadKind

WAYS = ("up", "down")
WIRE_OVERHEAD = 1.05
"""The number of bytes on the link for each byte of a body, including packet headers, TLS records and the
acknowledgements in the other direction."""
UNSHAPED_BPS = 2e9
"""The assumed rate of a plain veth pair, in bit/s. Subjects do not reach it."""
PROCESSED_BPS = {
    ("h1", "down"): 1.6e9,
    ("h1", "up"): 0.9e9,
    ("h2", "down"): 1.6e9,
    ("h2", "up"): 0.9e9,
    ("h3", "down"): 1.1e9,
    ("h3", "up"): 0.4e9,
}
"""The approximate rate at which client, server and storage on two cores process downloaded or uploaded bodies, in
bit/s. Measured with studies/rest-api.yaml for h2 and h3; h1 is assumed to equal h2."""
UNSHAPED_ROUND_TRIP_S = 0.0003
TRIAL_OVERHEAD_S = 0.2
"""The measured time for making namespaces, starting the server and the client, cleaning up and writing files."""
LINK_CHECK_S = 0.4
"""The measured time of a link check, without the link's own delay. Each network is checked once per block."""
LINK_CHECK_ROUND_TRIPS = 4
VIRTUAL_BOOT_S = 0.4
"""The real time that a virtual kernel needs to start and to stop, measured with bench/virtual.py."""
VIRTUAL_PACKET_S = {"h1": 0.00017, "h2": 0.00017, "h3": 0.00032}
"""The processor time in seconds that a packet takes under the virtual clock, including the work of all programs.
bench/virtual_cost.py measures 0.24 ms over HTTP/2 and 0.49 ms over HTTP/3 for 3 MB, without the boot
(docs/virtual-clock.md). Packets of larger bodies take less: in three trials over `home` on a busy machine, 27 MB
instead of 3 MB took 0.17 ms for each additional packet. The values here are between these measurements; h1 is assumed
to equal h2."""
VIRTUAL_UNSHAPED = 0.05
"""The cost of a packet over a plain veth pair, which carries up to 64 kB at once, relative to VIRTUAL_PACKET_S.
Measured on a busy machine: an additional 24 MB took 0.9 s over HTTP/3, and too little to measure over HTTP/2."""
VIRTUAL_IDLE = 0.002
"""The processor time, in seconds, of a virtual second in which nothing happens. bench/virtual_cost.py measures about
0.2 s for 130 virtual seconds on `satellite`."""
PACKETS_OF_DATA = 1.6
"""The number of packets for each full segment of a body, including acknowledgements and lost packets.
bench/virtual_cost.py counts 3300 packets for 3 MB."""
PACKETS_OF_REQUEST, PACKETS_OF_CONNECTION = 4, 14
"""The number of packets in addition to those of bodies: per request (with its response and the acknowledgements), and
per connection (for its handshake and its end)."""
VIRTUAL_CROSS_PACKET_S = 0.00005
"""The processor time in seconds that a packet of cross traffic, or its acknowledgement, takes under the virtual clock.
Over `europe-us-busy`, a page load of 10.8 virtual seconds took 8 s, nearly all of it for 150 000 such packets."""
VIRTUAL_CHECK_S = 0.2
"""The real time of a link check under the virtual clock. The check sends the same number of packets on every link.
Measured on a busy machine: 0.14 s of processor time over `poor`, and 0.2 s over `medium`."""


@dataclass(frozen=True)
class Estimate:
    """The expected duration and traffic of a trial."""

    seconds: float
    bytes: int
    """The number of bytes on all links, in both directions."""

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(self.seconds + other.seconds, self.bytes + other.bytes)


def estimate(trial: PlannedTrial, networks: Mapping[str, Network]) -> Estimate:
    """Return the wall time and the bytes of one trial, without link checks (see `estimate_check`). `networks` must
    contain the networks that the trial names."""
    return estimate_parameters(trial.parameters, networks)


def estimate_blocks(blocks: Iterable[Sequence[PlannedTrial]], networks: Mapping[str, Network]) -> dict[str, Estimate]:
    """Return the cost of every trial, keyed by the trial's ID. The cost of a link check is added to the trials that
    have one: in each block, the first trial that needs the check, and under the virtual clock every trial of a study of
    changes."""
    costs: dict[str, Estimate] = {}
    alike: dict[int, tuple[Parameters, Estimate]] = {}
    """The estimates, keyed by the `id` of the parameters object, which all trials of a treatment share."""
    for block in blocks:
        checked: set[tuple[str, ...]] = set()
        for trial in block:
            p = trial.parameters
            if id(p) not in alike:
                alike[id(p)] = p, estimate(trial, networks)
            costs[trial.id] = alike[id(p)][1]
            if p.checked_links() not in checked or (p.clock == "virtual" and trial.random is not None):
                for name in p.networks():
                    costs[trial.id] += estimate_check(networks[name], p.clock)
                checked.add(p.checked_links())
    return costs


def estimate_check(network: Network, clock: str = "wall") -> Estimate:
    """Return the wall time and the bytes of one link check. Both are zero for a plain veth pair."""
    if not network.shaped:
        return Estimate(0.0, 0)
    seconds = LINK_CHECK_S + LINK_CHECK_ROUND_TRIPS * _round_trip_s(network)
    if clock == "virtual":
        seconds = VIRTUAL_CHECK_S
    return Estimate(seconds, round((_rate_bps(network.up) + _rate_bps(network.down)) / 8 * LINK_CHECK_S))


def estimate_parameters(parameters: Parameters, networks: Mapping[str, Network]) -> Estimate:
    """Return the wall time and the bytes of one trial with these parameters, without link checks."""
    network = _access(parameters, networks)
    seconds = own_seconds(parameters, networks) + (network.cross.mean_ahead_s if network.cross else 0.0)
    if parameters.clock == "virtual":
        crossing = seconds * _cross_packets(network) * VIRTUAL_CROSS_PACKET_S
        seconds = VIRTUAL_BOOT_S + VIRTUAL_IDLE * seconds + _simulating_s(parameters, network) + crossing
    _, _, moved_behind = _behind(parameters, networks)
    paths, work = _paths(_access(parameters, networks), parameters), parameters.workload
    requests = _passes(work) * work.all_requests()
    moved = sum(requests * _bits(parameters, way) / 8 / max(1 - paths[way].loss, 0.01) for way in WAYS)
    return Estimate(seconds, round(moved + moved_behind))


def own_seconds(parameters: Parameters, networks: Mapping[str, Network]) -> float:
    """Return the seconds that one trial takes under its clock, wall or virtual. `trial_timeout` limits this time."""
    paths, work = _paths(_access(parameters, networks), parameters), parameters.workload
    cold = (work.rows() or {})["cold"] * _cold_s(parameters, paths)
    cold += work.connections_uncounted() * _uncounted_s(parameters, paths)
    warm = _passes(work) * _warm_s(parameters, paths, work.connection_count(), after=parameters.cold)
    seeding, storing, _ = _behind(parameters, networks)
    if parameters.clock == "virtual":
        return seeding + cold + max(warm, storing)
    # The server forwards bodies while it receives them, so the slower of its two links determines the time.
    return TRIAL_OVERHEAD_S + seeding + cold + max(warm, storing, _processing_s(parameters))


def _passes(work: WorkloadKind) -> int:
    """Return how often the workload runs: twice if a first visit is followed by a repeat visit, otherwise once."""
    return 2 if work.repeats else 1


def _access(parameters: Parameters, networks: Mapping[str, Network]) -> Network:
    """Return the network between client and server, changed as the trial's parameters require. Losses of listed packets
    or bytes are ignored."""
    return access_link(networks[parameters.network], parameters, 0.0)


def _processing_s(parameters: Parameters) -> float:
    requests = _passes(parameters.workload) * parameters.workload.all_requests()
    return sum(requests * _bits(parameters, way) / PROCESSED_BPS[parameters.protocol, way] for way in WAYS)


def _simulating_s(parameters: Parameters, network: Network) -> float:
    """Return the seconds of processor time for simulating all packets under the virtual clock."""
    work = parameters.workload
    requests = _passes(work) * work.all_requests()
    bodies = sum(requests * work.moved(way) for way in WAYS)
    hops = 1 if parameters.store == "memory" and parameters.backend_network is None else 2
    connections = _passes(work) * work.connection_count() + work.connections_uncounted()
    packets = (
        hops * PACKETS_OF_DATA * bodies / MSS_BYTES * (1 if network.shaped else VIRTUAL_UNSHAPED)
        + hops * PACKETS_OF_REQUEST * requests
        + PACKETS_OF_CONNECTION * connections
    )
    return packets * VIRTUAL_PACKET_S[parameters.protocol]


def _cross_packets(network: Network) -> float:
    """Return the packets of cross traffic per second, with their acknowledgements. Bulk traffic is assumed to fill the
    link."""
    bits = 0.0
    if network.cross:
        for traffic, direction in ((network.cross.up, network.up), (network.cross.down, network.down)):
            bits += (traffic.udp or PACKETS_OF_DATA * _rate_bps(direction)) if traffic else 0.0
    return bits / 8 / MSS_BYTES


def _behind(parameters: Parameters, networks: Mapping[str, Network]) -> tuple[float, float, float]:
    """Return the cost of the link behind the server: the seconds to store the bodies that clients will download, the
    seconds of the warm requests, and the bytes. All are zero if there is nothing behind the server."""
    stored = parameters.store != "memory"
    if not stored and parameters.backend_network is None:
        return 0.0, 0.0, 0.0
    work = parameters.workload
    paths = _paths(networks[parameters.backend_network] if parameters.backend_network else None, parameters)
    # The server opens a connection for each request in flight.
    warm = _passes(work) * _warm_s(parameters, paths, parameters.users, after=False)
    seeded = [_on_link(size) for size in work.served()] if stored else []
    seeding = sum(paths["up"].transfer_s(bits) for bits in seeded)
    requested = _passes(work) * work.all_requests() * sum(_bits(parameters, way) for way in WAYS)
    return seeding, warm, (requested + sum(seeded)) / 8


def _warm_s(parameters: Parameters, paths: "_Paths", connections: int, *, after: bool) -> float:
    """Return the seconds that all warm requests take: the longest of the times set by each connection's losses, the
    link's rate and the load's pace. `after`: whether a cold request comes first on each connection."""
    alone, together = 0.0, 0.0
    for way, path in paths.items():
        request_bits = _bits(parameters, way)
        bits, first = request_bits * parameters.users * parameters.workload.each(), request_bits if after else 0.0
        alone = max(alone, path.lossy_s(first + bits / connections) - path.lossy_s(first))
        together = max(together, bits / path.rate_bps)
    return max(alone, together, _pace_s(parameters, paths))


@dataclass(frozen=True)
class _Path:
    """One direction of a link, with the properties that limit a transfer."""

    round_trip_s: float
    rate_bps: float
    loss: float
    """The fraction of packets that are lost, or 0 under BBR, which losses do not slow down."""

    @classmethod
    def of(cls, network: Network | None, up: bool, congestion: str) -> "_Path":
        """Return the up or down path of a network. A network of None is a plain veth pair."""
        direction = (network.up if up else network.down) if network else None
        loss = direction.loss.mean if direction and direction.loss and congestion != "bbr" else 0.0
        return cls(_round_trip_s(network), _rate_bps(direction) * _rate_share(network, up), loss)

    def lossy_s(self, bits: float) -> float:
        """Return the seconds that one connection needs for its first `bits` if only loss limits it, at a rate of MSS /
        RTT * sqrt(3/2 / p)."""
        if self.loss == 0:
            return 0.0
        before_the_first_loss = MSS_BYTES * 8 / self.loss
        steady_bps = MSS_BYTES * 8 / self.round_trip_s * math.sqrt(1.5 / self.loss)
        return max(bits - before_the_first_loss, 0.0) / steady_bps

    def transfer_s(self, bits: float) -> float:
        """Return the seconds that a body of this size takes, not counting slow start."""
        return max(bits / self.rate_bps, self.lossy_s(bits))


_Paths = Mapping[str, _Path]


def _paths(network: Network | None, parameters: Parameters) -> _Paths:
    return {way: _Path.of(network, way == "up", parameters.congestion) for way in WAYS}


def _cold_s(parameters: Parameters, paths: _Paths) -> float:
    """Return the seconds that a workload's first request takes on a new connection: handshake, slow start from the
    initial window and transfer."""
    first = parameters.workload.exchanges()[0]
    slow_start = math.log2(1 + max(first.moved(way) for way in WAYS) / INITIAL_WINDOW_BYTES)
    work = parameters.workload
    handshake = handshake_round_trips(parameters.protocol, tls=parameters.tls, opening=work.opening)
    round_trips = handshake + 1 + slow_start
    transfers = sum(path.transfer_s(_on_link(first.moved(way))) for way, path in paths.items())
    return round_trips * paths["down"].round_trip_s + transfers


def _uncounted_s(parameters: Parameters, paths: _Paths) -> float:
    """Return the seconds that a connection without samples takes: its handshake, and one request without a body."""
    return (handshake_round_trips(parameters.protocol, tls=parameters.tls) + 1) * paths["down"].round_trip_s


def _pace_s(parameters: Parameters, paths: _Paths) -> float:
    """Return the seconds that the requests take at the pace of the load: at the requested rate or, in a closed loop,
    with one request of each user after another."""
    work = parameters.workload
    requests = parameters.users * work.each()
    if parameters.rate is not None:
        return requests / parameters.rate
    if parameters.arrivals is not None:
        return parameters.arrivals.lasts_s(requests, work.connection_count())
    moving = sum(_bits(parameters, way) / path.rate_bps for way, path in paths.items())
    return work.each() * (work.pause_s() + moving) + work.round_trips() * paths["down"].round_trip_s


def _bits(parameters: Parameters, way: str) -> float:
    """Return the average number of bits on the link for one request's bodies in this direction."""
    return _on_link(parameters.workload.moved(way))


def _on_link(body_bytes: float) -> float:
    """Return the number of bits on the link for a body of this size, including overhead."""
    return body_bytes * 8 * WIRE_OVERHEAD


def _round_trip_s(network: Network | None) -> float:
    return (network.round_trip_ns / 1e9 if network else 0.0) + UNSHAPED_ROUND_TRIP_S


def _rate_share(network: Network | None, up: bool) -> float:
    """Return the fraction of a direction's rate that cross traffic leaves. A constant stream leaves at least a
    tenth."""
    traffic = (network.cross.up if up else network.cross.down) if network and network.cross else None
    if traffic is None:
        return 1.0
    constant_share = traffic.udp / _rate_bps(network.up if up else network.down) if traffic.udp and network else 0.0
    return 1 / (1 + traffic.tcp) if traffic.tcp else max(1 - constant_share, 0.1)


def _rate_bps(direction: Direction | None) -> float:
    if direction is None:
        return UNSHAPED_BPS
    limits = [direction.rate.mean_bps if direction.rate else None, direction.policer.bps if direction.policer else None]
    return min(limit for limit in (*limits, UNSHAPED_BPS) if limit)
