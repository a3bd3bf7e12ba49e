"""How much of a cold request's difference is the initial window: a constant of two stacks, not of two protocols.

Told by the arithmetic of slow start on the link as it would be without loss, for the windows that the campaign's
senders are known to begin with: what a study sets, Linux' own, and what `h123 verify` has counted of a QUIC stack.
`bench/arithmetic.py` holds that arithmetic against whole requests.
"""

from collections.abc import Sequence

from h123.analysis.document import Judged, WindowsRow
from h123.base.transport import SETTINGS
from h123.store import CampaignFolder
from h123.study import METRICS, Choosing, Network, Parameters, Plan, Sender
from h123.study.metrics import observed
from h123.study.round_trips import Straight, download_s

METRIC = next(name for name, one in METRICS.items() if one.of == observed.Times("cold", "end_ns"))
"""A whole request on a connection that is new."""
PACKET_BYTES, PAYLOAD_BYTES = 1500, 1400
"""Of a full packet on the link, and of the body in it, about: TCP's have 1448, those of QUIC 1200 to 1440."""
NOTABLE = 0.01
"""Share of the request's time; less is not worth a word."""


def windows(folder: CampaignFolder, plan: Plan, choosing: Choosing, judged: Sequence[Judged]) -> list[WindowsRow]:
    """The `windows` of verdicts.json: a row for each cold comparison whose sides are known to begin unlike."""
    rows = (_row(folder, plan, choosing, c) for c in judged if c["metric"] == METRIC and not c["twin"])
    return [row for row in rows if row]


def _row(folder: CampaignFolder, plan: Plan, choosing: Choosing, c: Judged) -> WindowsRow | None:
    """None where nothing is known, or nothing to tell."""
    study, seen = plan.study, (c["a_median"], c["b_median"])
    a, b = (study.parameters({**c["cell"], study.compare.factor: level}) for level in (c["a"], c["b"]))
    packets = _window(folder, a, choosing), _window(folder, b, choosing)
    first = a.workload.exchanges()[0]  # what cold requests are for
    size, up = max((first.moved("down"), False), (first.moved("up"), True))
    link = _straight(Network.from_resolved(folder.networks[a.network]), up)
    if a.network != b.network or first != b.workload.exchanges()[0] or packets[0] == packets[1]:
        return None
    if packets[0] is None or packets[1] is None or link is None or seen[0] is None or seen[1] is None:
        return None
    saved = _download_s(size, packets[1], link) - _download_s(size, packets[0], link)
    if abs(saved) < NOTABLE * max(seen[0], seen[1]):
        return None
    return {
        "metric": METRIC,
        "cell": c["cell"],
        "a": c["a"],
        "b": c["b"],
        "a_packets": packets[0],
        "b_packets": packets[1],
        "seconds": saved,
        "difference": seen[1] - seen[0],
    }


def _window(folder: CampaignFolder, p: Parameters, choosing: Choosing) -> int | None:
    """Packets that the sender of the bodies begins with; None: not known."""
    if p.congestion == "bbr":  # paces from its own idea of the path
        return None
    sender = Sender.all(p, choosing, SETTINGS["initial_window"])[0]
    if sender.value is not None:
        return int(sender.value)
    proofs = folder.subjects[sender.name].get("proofs", {}) if sender.name in folder.subjects else {}
    proof = proofs.get("server" if sender.role == "server" else "client")
    return proof["first_flight"] if proof else None


def _straight(network: Network, up: bool) -> Straight | None:
    """The path of the bodies without what it loses; None where packets pass at once."""
    way = network.up if up else network.down
    if way is None or way.rate is None or not network.round_trip_ns:
        return None
    return Straight(network.round_trip_ns / 1e9, way.rate.mean_bps)


def _download_s(size: int, window: int, link: Straight) -> float:
    return download_s(-(-size // PAYLOAD_BYTES), PACKET_BYTES, window, link)
