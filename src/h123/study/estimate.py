"""Estimates how long a trial will take and how many bytes it will move, before anything runs.

The estimate is for planning an afternoon, not for predicting results. It adds handshakes and cold requests (round
trips, slow start) to the warm requests at the tightest of these limits:

* the link's rate, and that of the link to what stands behind the server;
* the throughput of the subjects' processors;
* the loss-limited rate of the connections in use (Mathis, Semke, Mahdavi, Ott, The macroscopic behavior of the TCP
  congestion avoidance algorithm, CCR 27(3), 1997) from each one's first loss on, after 1/p packets on average;
* one round trip and one serialisation for each of a user's requests, which follow one another (closed loop);
* the requested rate (open loop).

Cross traffic leaves what a constant stream does not take; next to bulk connections, one more gets an equal share.

The estimate ignores queueing delay, retransmission timeouts, blackouts, timed changes, blocked UDP, and differences
between congestion controllers, except that bbr ignores random loss.

Under the virtual clock processing takes no time of the trial, and waiting takes no real time: a trial costs the
processor time of its packets and requests, whatever its clock says (docs/virtual-clock.md, "What a trial costs").
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from h123.study.networks.network import Direction, Network
from h123.study.parameters import Parameters, PlannedTrial
from h123.study.round_trips import INITIAL_WINDOW_BYTES, MSS_BYTES, handshake_round_trips
from h123.study.single_loss import with_losses
from h123.study.workload import WorkloadKind

WAYS = ("up", "down")
WIRE_OVERHEAD = 1.05
"""Bytes on the link per body byte: packet headers, TLS records, acknowledgements the other way."""
UNSHAPED_BPS = 2e9
"""More than subjects manage over a plain veth pair, bit/s."""
PROCESSED_BPS = {
    ("h1", "down"): 1.6e9,
    ("h1", "up"): 0.9e9,
    ("h2", "down"): 1.6e9,
    ("h2", "up"): 0.9e9,
    ("h3", "down"): 1.1e9,
    ("h3", "up"): 0.4e9,
}
"""The approximate rate at which client, server and storage process bodies down or up, on two cores, bit/s. Measured
with studies/rest-api.yaml (h1: as h2)."""
UNSHAPED_ROUND_TRIP_S = 0.0003
TRIAL_OVERHEAD_S = 0.2
"""Time for namespaces, server start, client start, tear-down and files; measured."""
LINK_CHECK_S = 0.4
"""Time of a link check without the link's own delay, once for each block and network; measured."""
LINK_CHECK_ROUND_TRIPS = 4
VIRTUAL_BOOT_S = 0.4
"""Real time for a virtual kernel to start and to end; measured with bench/virtual.py."""
VIRTUAL_PACKET_S = {"h1": 0.00017, "h2": 0.00017, "h3": 0.00032}
"""Processor time that a packet costs there, with all that programs do for it. bench/virtual_cost.py measures 0.24 ms
over HTTP/2 and 0.49 ms over HTTP/3 without the boot, for 3 MB (docs/virtual-clock.md). Of larger bodies a packet costs
less: 27 MB instead of 3 MB over `home`, two trials of HTTP/2 and one of HTTP/3, cost 0.17 ms for each packet more, on a
busy machine. These are between. h1: as h2."""
VIRTUAL_UNSHAPED = 0.05
"""The share of this that a packet's worth of bytes costs over a plain veth pair, which carries up to 64 kB at once. 24
MB more over HTTP/3 took 0.9 s on a busy machine; over HTTP/2 the difference was too small to measure."""
VIRTUAL_IDLE = 0.002
"""Processor time of a virtual second in which nothing happens: 130 s on `satellite` cost some 0.2 s; from the same
bench."""
PACKETS_OF_DATA = 1.6
"""Packets per full segment's worth of body, including acknowledgements and losses: 3300 for 3 MB; from the same
bench."""
PACKETS_OF_REQUEST, PACKETS_OF_CONNECTION = 4, 14
"""Packets without bodies: a request, its answer and their acknowledgements; a handshake and the end."""
VIRTUAL_CHECK_S = 0.8
"""Real time of a link check there: it boots a kernel, and its packets are equally many on every link."""


@dataclass(frozen=True)
class Estimate:
    """The expected cost of a trial."""

    seconds: float
    bytes: int
    """Bytes on the links, in both directions."""

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(self.seconds + other.seconds, self.bytes + other.bytes)


def estimate(trial: PlannedTrial, networks: Mapping[str, Network]) -> Estimate:
    """Wall time and bytes of one trial, without a link check (`estimate_check`); `networks` contains those it names."""
    return estimate_parameters(trial.parameters, networks)


def estimate_blocks(blocks: Iterable[Sequence[PlannedTrial]], networks: Mapping[str, Network]) -> dict[str, Estimate]:
    """The cost of every trial by its id. A block's first trial over its networks, under its clock, includes their link
    checks."""
    costs: dict[str, Estimate] = {}
    for block in blocks:
        checked: set[tuple[str, ...]] = set()
        for trial in block:
            p = trial.parameters
            costs[trial.id] = estimate(trial, networks)
            if p.checked_links() not in checked:
                for name in p.networks():
                    costs[trial.id] += estimate_check(networks[name], p.clock)
                checked.add(p.checked_links())
    return costs


def estimate_check(network: Network, clock: str = "wall") -> Estimate:
    """Wall time and bytes of one link check; a plain veth has none."""
    if not network.shaped:
        return Estimate(0.0, 0)
    seconds = LINK_CHECK_S + LINK_CHECK_ROUND_TRIPS * _round_trip_s(network)
    if clock == "virtual":
        seconds = VIRTUAL_CHECK_S
    return Estimate(seconds, round((_rate_bps(network.up) + _rate_bps(network.down)) / 8 * LINK_CHECK_S))


def estimate_parameters(parameters: Parameters, networks: Mapping[str, Network]) -> Estimate:
    """Wall time and bytes of one trial with these parameters."""
    network = networks[parameters.network]
    seconds = own_seconds(parameters, networks) + (network.cross.mean_ahead_s if network.cross else 0.0)
    if parameters.clock == "virtual":
        seconds = VIRTUAL_BOOT_S + VIRTUAL_IDLE * seconds + _simulating_s(parameters, network)
    _, _, moved_behind = _behind(parameters, networks)
    paths, work = _paths(_access(parameters, networks), parameters), parameters.workload
    requests = _passes(work) * work.all_requests()
    moved = sum(requests * _bits(parameters, way) / 8 / max(1 - paths[way].loss, 0.01) for way in WAYS)
    return Estimate(seconds, round(moved + moved_behind))


def own_seconds(parameters: Parameters, networks: Mapping[str, Network]) -> float:
    """Seconds that one trial takes on its own clock; `trial_timeout` limits this time."""
    paths, work = _paths(_access(parameters, networks), parameters), parameters.workload
    cold = (work.rows() or {})["cold"] * _cold_s(parameters, paths)
    cold += work.connections_uncounted() * _uncounted_s(parameters, paths)
    warm = _passes(work) * _warm_s(parameters, paths, work.connection_count(), after=parameters.cold)
    seeding, storing, _ = _behind(parameters, networks)
    if parameters.clock == "virtual":
        return seeding + cold + max(warm, storing)
    # Bodies pass the server as they come, so the slower of its two links sets the pace.
    return TRIAL_OVERHEAD_S + seeding + cold + max(warm, storing, _processing_s(parameters))


def _passes(work: WorkloadKind) -> int:
    """How often the workload runs: a repeat visit follows another one."""
    return 2 if work.repeats else 1


def _access(parameters: Parameters, networks: Mapping[str, Network]) -> Network:
    """A listed loss counts for nothing, wherever it is."""
    return with_losses(networks[parameters.network], parameters, 0.0)


def _processing_s(parameters: Parameters) -> float:
    """Processor time of all requests, s."""
    requests = _passes(parameters.workload) * parameters.workload.all_requests()
    return sum(requests * _bits(parameters, way) / PROCESSED_BPS[parameters.protocol, way] for way in WAYS)


def _simulating_s(parameters: Parameters, network: Network) -> float:
    """Processor time of all packets."""
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


def _behind(parameters: Parameters, networks: Mapping[str, Network]) -> tuple[float, float, float]:
    """Behind the server: seconds to store what is downloaded, seconds of the warm requests, bytes."""
    stored = parameters.store != "memory"
    if not stored and parameters.backend_network is None:
        return 0.0, 0.0, 0.0
    work = parameters.workload
    paths = _paths(networks[parameters.backend_network] if parameters.backend_network else None, parameters)
    # The server has a connection for each request in flight.
    warm = _passes(work) * _warm_s(parameters, paths, parameters.users, after=False)
    seeded = [_on_link(size) for size in work.served()] if stored else []
    seeding = sum(paths["up"].transfer_s(bits) for bits in seeded)
    requested = _passes(work) * work.all_requests() * sum(_bits(parameters, way) for way in WAYS)
    return seeding, warm, (requested + sum(seeded)) / 8


def _warm_s(parameters: Parameters, paths: "_Paths", connections: int, *, after: bool) -> float:
    """Seconds of all warm requests: the larger of what one connection needs for its share (`after` a first request or
    not) and what all of them need together."""
    alone, together = 0.0, 0.0
    for way, path in paths.items():
        request_bits = _bits(parameters, way)
        bits, first = request_bits * parameters.users * parameters.workload.each(), request_bits if after else 0.0
        alone = max(alone, path.lossy_s(first + bits / connections) - path.lossy_s(first))
        together = max(together, bits / path.rate_bps)
    return max(alone, together, _pace_s(parameters, paths))


@dataclass(frozen=True)
class _Path:
    """A direction, with what it does to those bodies that it carries."""

    round_trip_s: float
    rate_bps: float
    loss: float
    """Share of packets whose loss slows a connection down."""

    @classmethod
    def of(cls, network: Network | None, up: bool, congestion: str) -> "_Path":
        """One way through a network; None: a plain veth pair."""
        direction = (network.up if up else network.down) if network else None
        loss = direction.loss.mean if direction and direction.loss and congestion != "bbr" else 0.0
        return cls(_round_trip_s(network), _rate_bps(direction) * _rate_share(network, up), loss)

    def lossy_s(self, bits: float) -> float:
        """Seconds that one connection needs for its first `bits` as far as loss limits it, at MSS / RTT * sqrt(3/2 /
        p)."""
        if self.loss == 0:
            return 0.0
        before_the_first_loss = MSS_BYTES * 8 / self.loss
        steady_bps = MSS_BYTES * 8 / self.round_trip_s * math.sqrt(1.5 / self.loss)
        return max(bits - before_the_first_loss, 0.0) / steady_bps

    def transfer_s(self, bits: float) -> float:
        """One body, after slow start."""
        return max(bits / self.rate_bps, self.lossy_s(bits))


_Paths = Mapping[str, _Path]


def _paths(network: Network | None, parameters: Parameters) -> _Paths:
    """The paths `up` and `down`."""
    return {way: _Path.of(network, way == "up", parameters.congestion) for way in WAYS}


def _cold_s(parameters: Parameters, paths: _Paths) -> float:
    """A workload's first request on a new connection: handshake, slow start from the initial window, the transfer."""
    first = parameters.workload.exchanges()[0]
    slow_start = math.log2(1 + max(first.moved(way) for way in WAYS) / INITIAL_WINDOW_BYTES)
    work = parameters.workload
    handshake = handshake_round_trips(parameters.protocol, tls=parameters.tls, opening=work.opening)
    round_trips = handshake + 1 + slow_start
    transfers = sum(path.transfer_s(_on_link(first.moved(way))) for way, path in paths.items())
    return round_trips * paths["down"].round_trip_s + transfers


def _uncounted_s(parameters: Parameters, paths: _Paths) -> float:
    """A connection with one request that moves no body."""
    return (handshake_round_trips(parameters.protocol, tls=parameters.tls) + 1) * paths["down"].round_trip_s


def _pace_s(parameters: Parameters, paths: _Paths) -> float:
    """Seconds of users that never wait for the network: by the requested rate, or one request after the other."""
    work = parameters.workload
    requests = parameters.users * work.each()
    if parameters.rate is not None:
        return requests / parameters.rate
    if parameters.arrivals is not None:
        return parameters.arrivals.lasts_s(requests, work.connection_count())
    moving = sum(_bits(parameters, way) / path.rate_bps for way, path in paths.items())
    return work.each() * (work.pause_s() + moving) + work.round_trips() * paths["down"].round_trip_s


def _bits(parameters: Parameters, way: str) -> float:
    """One request on the link, on average."""
    return _on_link(parameters.workload.moved(way))


def _on_link(body_bytes: float) -> float:
    """Bits that a body is there."""
    return body_bytes * 8 * WIRE_OVERHEAD


def _round_trip_s(network: Network | None) -> float:
    return (network.round_trip_ns / 1e9 if network else 0.0) + UNSHAPED_ROUND_TRIP_S


def _rate_share(network: Network | None, up: bool) -> float:
    """The share of a direction's rate that cross traffic leaves, at least a tenth."""
    traffic = (network.cross.up if up else network.cross.down) if network and network.cross else None
    if traffic is None:
        return 1.0
    constant_share = traffic.udp / _rate_bps(network.up if up else network.down) if traffic.udp and network else 0.0
    return 1 / (1 + traffic.tcp) if traffic.tcp else max(1 - constant_share, 0.1)


def _rate_bps(direction: Direction | None) -> float:
    return min(direction.rate.mean_bps, UNSHAPED_BPS) if direction and direction.rate else UNSHAPED_BPS
