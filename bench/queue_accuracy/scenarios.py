"""The scenarios for Linux's queue disciplines and the link: parameters, and packets drawn from a seed."""

import random
from dataclasses import dataclass
from typing import Any

Packet = tuple[int, int, int, int]
"""Offset (ns), bytes, flow, ECN field."""
FLOWS = 1024
NOT_ECT, ECT_1, ECT_0, CE = range(4)


@dataclass(frozen=True)
class Scenario:
    """A discipline behind a token bucket or a constant rate, and the packets that arrive."""

    name: str
    bps: int
    burst: int
    discipline: str
    """The discipline in the words of `tc`."""
    queue: dict[str, Any]
    """The queue in the words of trial.json."""
    load: float
    """The arriving bytes, as a multiple of what the rate can carry."""
    flows: int = 1
    ecn: tuple[int, ...] = (NOT_ECT,)
    pause_s: float = 0.0
    """A silence after each hundred packets, in which the queue drains."""
    sizes: tuple[int, int] = (64, 1500)
    step: int = 2**32 // FLOWS
    """The difference between the hashes of two flows. This one gives each flow the queue of its number."""
    hosts: int = 1
    """The pairs of hosts over which the flows are spread: for the link, its own and those of cross traffic."""
    loads: tuple[float, ...] = (1.0,)
    """The load changes: by one of these factors after the other, for 2000 packets each."""
    ticks_ns: int | None = None
    """The period of timers that come at its multiples in both, whenever the discipline was made."""
    timer_ns: int | None = None
    """From when the discipline was made to a time from which the link's timers come when its timers do."""

    def packets(self, number: int, seed: int) -> list[Packet]:
        """Draw bursts of a few packets at random times. The first flows send most."""
        rng, now, packets = random.Random(f"{self.name} {seed}"), 0.0, []
        gap = sum(self.sizes) / 2 * 8e9 / (self.bps * self.load)
        while len(packets) < number:
            burst = rng.choice((1, 1, 1, 2, 4, 10))
            load = self.loads[len(packets) // 2000 % len(self.loads)]
            now += rng.expovariate(1 / (gap * burst)) / load
            for _ in range(burst):
                flow = min(int(rng.paretovariate(0.5)), self.flows) - 1
                size = rng.randint(*self.sizes) // self.unit * self.unit
                packets.append((int(now), size, flow, rng.choice(self.ecn)))
            if self.pause_s and rng.random() < burst / 100:
                now += self.pause_s * 1e9
        return packets[:number]

    @property
    def random(self) -> bool:
        """Whether the discipline draws random numbers."""
        return self.discipline.split()[0] in ("pie", "fq_pie", "red", "dualpi2", "cake")

    @property
    def needs_edits(self) -> bool:
        """Whether the kernel does this only as edited: a constant rate (CBS), an adaptive RED, and hashes that
        collide."""
        constant = not self.burst and not self.discipline.startswith("cake")
        return constant or self.step == FLOWS or "adaptive" in self.discipline

    @property
    def unit(self) -> int:
        """The number of bytes of which packet sizes are multiples. With other sizes, Linux's CBS (credit-based shaper)
        would round."""
        return 1 if self.burst else 8

    def setup(self, device: str) -> list[str]:
        """Return the commands that give a device the discipline."""
        if not self.burst and self.discipline.startswith("cake"):
            return [f"tc qdisc add dev {device} root handle 20: {self.discipline} bandwidth {self.bps}bit"]
        if not self.burst:
            # Sends a packet when its predecessor's time is over, as the link does: half of the device's 10 Mbit/s.
            slopes = "idleslope 5000 sendslope -5000 hicredit 0 locredit -1000000"
            return [
                f"tc qdisc add dev {device} root handle 1: cbs {slopes} offload 0",
                f"tc qdisc add dev {device} parent 1:1 handle 20: {self.discipline}",
            ]
        shaper = f"tc qdisc add dev {device} root handle 1: tbf rate {self.bps}bit burst {self.burst}b"
        if not self.discipline.startswith("bfifo"):
            inner = f"tc qdisc add dev {device} parent 1:1 handle 20: {self.discipline}"
            return [f"{shaper} limit 1000000000", inner]
        return [f"{shaper} {self.discipline.removeprefix('bfifo ')}"]

    def direction(self) -> dict[str, Any]:
        """Return the same discipline as a direction of the link."""
        rate = {"bps": self.bps, "burst_bytes": self.burst} if self.burst else {"bps": self.bps}
        return {"rate": rate, "queue": self.queue}


def _codel(
    name: str, bps: int, load: float, words: str = "", fields: dict[str, Any] | None = None, **rest: Any
) -> Scenario:
    return Scenario(f"CoDel, {name}", bps, 3000, f"codel {words}", {"codel": fields or {}}, load, **rest)


def _fair(
    name: str, bps: int, load: float, words: str = "", fields: dict[str, Any] | None = None, **rest: Any
) -> Scenario:
    rest = {"flows": 12, "ecn": (NOT_ECT, ECT_0), **rest}
    return Scenario(f"FQ-CoDel, {name}", bps, 3000, f"fq_codel {words}", {"fq_codel": fields or {}}, load, **rest)


def _pie(
    name: str, bps: int, load: float, words: str = "", fields: dict[str, Any] | None = None, **rest: Any
) -> Scenario:
    # Two ticks of 10 ms instead of 15 ms, and one more: this kernel's timers are a tick late. The first is at 510 ms.
    queue = {"pie": {"tupdate_ns": 30 * MS, **(fields or {})}}
    rest = {"burst": 3000, "timer_ns": 480 * MS, **rest}
    return Scenario(f"PIE, {name}", bps, discipline=f"pie {words}", queue=queue, load=load, **rest)


def _fair_pie(
    name: str, bps: int, load: float, words: str = "", fields: dict[str, Any] | None = None, **rest: Any
) -> Scenario:
    queue = {"fq_pie": {"tupdate_ns": 30 * MS, **(fields or {})}}
    rest = {"flows": 12, "ecn": (NOT_ECT, ECT_0), "timer_ns": 480 * MS, **rest}
    return Scenario(f"FQ-PIE, {name}", bps, 3000, f"fq_pie {words}", queue, load, **rest)


def _red(name: str, bps: int, load: float, words: str = "", burst: int = 3000, **rest: Any) -> Scenario:
    """`words` are flags, all parameters with values are the same."""
    flags = dict.fromkeys(words.split(), True)
    timer = {"timer_ns": 0} if "adaptive" in flags else {}
    numbers = {"limit": 120_000, "min": 15_000, "max": 45_000, "avpkt": 800, "burst": 30, "probability": 0.05}
    texts = "".join(f"{key} {value} " for key, value in numbers.items())
    queue = {"red": {**numbers, "bandwidth_bps": 5 * 10**6, **flags}}
    return Scenario(f"RED, {name}", bps, burst, f"red {texts}bandwidth 5mbit {words}", queue, load, **timer, **rest)


def _dual(name: str, bps: int, load: float, **rest: Any) -> Scenario:
    """Debian 12's `tc` knows no parameters of DualPI2: all have their defaults."""
    rest = {"ecn": (NOT_ECT, ECT_1, ECT_0, CE), "ticks_ns": 16 * MS, **rest}
    return Scenario(f"DualPI2, {name}", bps, 3000, "dualpi2", {"dualpi2": {}}, load, **rest)


def _cake(
    name: str, bps: int, load: float, words: str = "", fields: dict[str, Any] | None = None, **rest: Any
) -> Scenario:
    rest = {"burst": 0, "flows": 12, "step": 1, "ecn": (NOT_ECT, ECT_0), **rest}
    words = f"cake besteffort {words}"
    return Scenario(f"CAKE, {name}", bps, discipline=words, queue={"cake": fields or {}}, load=load, **rest)


MARKED = {"ecn": (NOT_ECT, ECT_1, ECT_0, CE)}
MS = 10**6
ESTIMATED = {"bytemode": True, "dq_rate_estimator": True}
SCENARIOS = [
    Scenario("TBF, FIFO of 60 kB", 6_250_000, 3000, "bfifo limit 60000", {"bytes": 60_000}, 1.1),
    Scenario("TBF, large burst", 3_125_000, 100_000, "bfifo limit 30000", {"bytes": 30_000}, 3.0, pause_s=0.5),
    Scenario("TBF, small packets", 625_000, 1500, "bfifo limit 20000", {"bytes": 20_000}, 1.3, sizes=(40, 200)),
    Scenario("FIFO of 50 packets", 6_250_000, 1500, "pfifo limit 50", {"packets": 50}, 1.2),
    _codel("10 % too much", 15_625_000, 1.1),
    _codel("twice too much", 15_625_000, 2.0, "limit 200", {"limit": 200}),
    _codel("slow link", 1_250_000, 1.05),
    _codel("fast link", 31_250_000, 1.2),
    _codel("marking", 15_625_000, 1.2, "ecn", {"ecn": True}, **MARKED),
    _codel("short target", 6_250_000, 1.1, "target 1ms interval 20ms", {"target_ns": MS, "interval_ns": 20 * MS}),
    _codel("threshold", 15_625_000, 1.0, "ecn ce_threshold 2ms", {"ecn": True, "ce_threshold_ns": 2 * MS}, **MARKED),
    _codel("in and out of dropping", 6_250_000, 1.5, pause_s=0.3),
    _codel("near the rate", 6_250_000, 0.98),
    _fair("10 % too much", 15_625_000, 1.1),
    _fair("twice too much, small limit", 15_625_000, 2.0, "limit 100", {"limit": 100}),
    _fair("slow link", 1_250_000, 1.1),
    _fair("fast link, many flows", 31_250_000, 1.2, flows=200),
    _fair("small quantum", 15_625_000, 1.2, "quantum 300", {"quantum": 300}),
    _fair("without marking", 6_250_000, 1.3, "noecn", {"ecn": False}),
    _fair("in and out", 6_250_000, 1.5, "limit 50 drop_batch 8", {"limit": 50, "drop_batch": 8}, pause_s=0.3),
    _pie("10 % too much", 15_625_000, 1.1),
    _pie("twice too much", 15_625_000, 2.0, "limit 200", {"limit": 200}),
    _pie("near the rate", 6_250_000, 0.98),
    _pie("marking", 15_625_000, 1.0, "ecn", {"ecn": True}, **MARKED),
    _pie("in and out of dropping", 6_250_000, 1.0, loads=(2.0, 0.2)),
    _pie("changing load", 6_250_000, 1.0, "ecn", {"ecn": True}, loads=(0.5, 1.5, 0.9, 3.0), **MARKED),
    _pie("small packets dropped less", 6_250_000, 1.2, "bytemode", {"bytemode": True}),
    _pie("estimated rate", 15_625_000, 1.2, "dq_rate_estimator", {"dq_rate_estimator": True}, loads=(1.0, 0.6)),
    _pie(
        "short target",
        15_625_000,
        1.2,
        "target 5ms tupdate 1ms alpha 8 beta 28",
        {"target_ns": 5 * MS, "tupdate_ns": 20 * MS, "alpha": 8, "beta": 28},
        timer_ns=490 * MS,
    ),
    _pie("constant rate", 5_000_000, 1.03, "ecn", {"ecn": True}, burst=0, loads=(1.0, 0.8), **MARKED),
    _fair_pie("10 % too much", 15_625_000, 1.1),
    _fair_pie("twice too much, small limit", 15_625_000, 2.0, "limit 100", {"limit": 100}),
    _fair_pie("marking", 15_625_000, 1.05, "ecn ecn_prob 60", {"ecn": True, "ecn_prob": 60}),
    _fair_pie("fast link, many flows", 31_250_000, 1.2, flows=200),
    _fair_pie("small quantum, changing load", 6_250_000, 1.2, "quantum 300", {"quantum": 300}, loads=(0.6, 1.3, 3.0)),
    _fair_pie("in and out, estimated rate", 6_250_000, 1.5, "bytemode dq_rate_estimator", ESTIMATED, loads=(2.0, 0.2)),
    _red("5 % too much", 6_250_000, 1.05),
    _red("twice too much", 6_250_000, 2.0),
    _red("near the rate", 6_250_000, 0.97),
    _red("marking", 6_250_000, 1.1, "ecn", **MARKED),
    _red("marking, dropping above", 6_250_000, 1.1, "ecn harddrop", loads=(0.8, 1.2, 1.5), **MARKED),
    _red("marking without drops", 6_250_000, 1.2, "ecn nodrop", **MARKED),
    _red("adaptive", 6_250_000, 1.1, "ecn adaptive", loads=(0.8, 1.1, 1.5), **MARKED),
    _red("constant rate, adaptive", 5_000_000, 1.05, "adaptive", burst=0, loads=(0.5, 1.2, 0.9, 1.6)),
    _red("constant rate, quiet times", 5_000_000, 1.3, burst=0, pause_s=0.1),
    _dual("10 % too much", 15_625_000, 1.1),
    _dual("near the rate", 6_250_000, 0.98),
    _dual("classic traffic", 6_250_000, 1.1, ecn=(NOT_ECT, ECT_0)),
    _dual("scalable traffic", 6_250_000, 1.1, ecn=(ECT_1,), loads=(0.8, 1.1)),
    _dual("little classic traffic, changing load", 6_250_000, 1.0, ecn=(*[ECT_1] * 9, NOT_ECT), loads=(0.6, 1.3, 2.0)),
    _dual("in and out of overload", 15_625_000, 1.0, loads=(3.0, 0.2)),
    _cake("10 % too much", 15_625_000, 1.1),
    _cake("twice too much", 15_625_000, 2.0),
    _cake("near the rate", 6_250_000, 0.98),
    _cake("one flow", 6_250_000, 1.1, flows=1, ecn=(NOT_ECT,)),
    _cake("marking", 15_625_000, 1.2, "flows", {"isolation": "flows"}, **MARKED),
    _cake("two pairs of hosts", 15_625_000, 1.3, hosts=2, flows=30),
    _cake("many flows in one set", 15_625_000, 1.2, step=1024, flows=20, hosts=2),
    _cake("fast link, many flows", 31_250_000, 1.2, flows=200),
    _cake("little memory", 15_625_000, 2.0, "memlimit 200000", {"memlimit": 200_000}, loads=(1.0, 0.6, 0.3)),
    _cake("short round trip", 6_250_000, 1.1, "rtt 10ms flowblind", {"rtt_ns": 10 * MS, "isolation": "flowblind"}),
    _cake("slow link, in and out", 1_250_000, 1.5, pause_s=0.3),
    _cake("before a token bucket", 6_250_000, 1.2, burst=3000),
]
"""The virtual kernel's clock ticks every 256 ns, so at these rates a byte takes a multiple of that. At higher rates
more packets arrive within the microsecond by which its timers may be late. That changes no arithmetic, only which
packet finds room."""
