"""Computes how much of the difference between cold requests comes from the initial window, which is a property of the
stacks rather than of the protocols.

The computation uses the arithmetic of slow start on the link without loss, with the known initial windows of the
campaign's senders: the study's setting, Linux's default, or the window that `h123 verify` measured for a QUIC stack.
`bench/arithmetic.py` compares this arithmetic with whole requests.
"""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.rows import Cell, JudgedComparison
from h123.analysis.section import Section
from h123.analysis.verdicts.judgement import comparisons
from h123.base.transport import SETTINGS
from h123.study import METRICS, Network, Parameters, SenderSetting, access_link
from h123.study.metrics import quantity
from h123.study.round_trips import Straight, download_s


class WindowsRow(TypedDict):
    """The part of the difference between cold requests that the initial windows alone cause."""

    metric: str
    cell: Cell
    a: str
    b: str
    a_packets: int
    """The initial window of side a, in packets."""
    b_packets: int
    seconds: float
    """The calculated time in seconds that the larger window of `a` saves; negative if the window of `b` is larger."""
    difference: float
    """The measured difference in seconds; positive if `a` was faster."""
    matchable: NotRequired[bool]
    """Whether `transport: matched` would make the windows equal. Absent from results of earlier versions."""


METRIC = next(name for name, metric in METRICS.items() if metric.of == quantity.RequestTime("cold", "end_ns"))
"""The metric: a whole request on a new connection."""
PACKET_BYTES, PAYLOAD_BYTES = 1500, 1400
"""The approximate size in bytes of a full packet on the link, and of the body data in it: 1448 in TCP packets, 1200 to
1440 in QUIC's."""
NOTABLE = 0.01
"""The share of the request's time below which the part is not worth mentioning."""


def windows(case: Case, comparisons: Sequence[JudgedComparison]) -> list[WindowsRow]:
    """Return the `windows` part of verdicts.json: a row for each comparison of cold requests between two levels whose
    initial windows are known and differ."""
    rows = (_row(case, c) for c in comparisons if c["metric"] == METRIC and not c["twin"])
    return [row for row in rows if row]


def _row(case: Case, c: JudgedComparison) -> WindowsRow | None:
    """Return the row of a comparison, or None if nothing is known or there is nothing to report."""
    study, medians = case.plan.study, (c["a_median"], c["b_median"])
    a, b = (study.parameters({**c["cell"], study.compare.factor: level}) for level in (c["a"], c["b"]))
    packets = _window(case, a), _window(case, b)
    first = a.workload.exchanges()[0]  # cold requests repeat the first exchange
    size, up = max((first.moved("down"), False), (first.moved("up"), True))
    link = _straight(access_link(case.networks[a.network], a, 0.0), up)
    if a.network != b.network or first != b.workload.exchanges()[0] or packets[0] == packets[1]:
        return None
    if packets[0] is None or packets[1] is None or link is None or medians[0] is None or medians[1] is None:
        return None
    saved = _download_s(size, packets[1], link) - _download_s(size, packets[0], link)
    if abs(saved) < NOTABLE * max(medians[0], medians[1]):
        return None
    return {
        "metric": METRIC,
        "cell": c["cell"],
        "a": c["a"],
        "b": c["b"],
        "a_packets": packets[0],
        "b_packets": packets[1],
        "seconds": saved,
        "difference": medians[1] - medians[0],
        "matchable": _matchable(case, a, b),
    }


def _matchable(case: Case, *sides: Parameters) -> bool:
    """Return whether h123 could set the windows of both sides to the same value. It cannot if a stack has no such
    setting, as in a user's own server, or if the study sets the windows itself."""
    matched = [side.model_copy(update={"transport": "matched"}) for side in sides]
    values = [SenderSetting.all(p, case.choosing, SETTINGS["initial_window"])[0].value for p in matched]
    return values[0] is not None and values[0] == values[1]


def _window(case: Case, p: Parameters) -> int | None:
    """Return the initial window, in packets, of the end that sends bodies. None if it is unknown."""
    if p.congestion == "bbr":  # BBR paces by its own model of the path
        return None
    sender = SenderSetting.all(p, case.choosing, SETTINGS["initial_window"])[0]
    if sender.value is not None:
        return int(sender.value)
    proofs = case.facts.subjects[sender.name].get("proofs", {}) if sender.name in case.facts.subjects else {}
    proof = proofs.get("server" if sender.role == "server" else "client")
    return proof["first_flight"] if proof else None


def _straight(network: Network, up: bool) -> Straight | None:
    """Return the path that the bodies take, as if it lost no packets. None if it has no delay or no rate limit."""
    way = network.up if up else network.down
    if way is None or way.rate is None or not network.round_trip_ns:
        return None
    return Straight(network.round_trip_ns / 1e9, way.rate.mean_bps)


def _download_s(size: int, window: int, link: Straight) -> float:
    return download_s(-(-size // PAYLOAD_BYTES), PACKET_BYTES, window, link)


class WindowsPart(TypedDict):
    windows: NotRequired[Sequence[WindowsRow]]
    """A row for each comparison of cold requests whose sides have different initial windows."""


def _compute(case: Case) -> WindowsPart:
    return {"windows": [] if case.facts.imported else windows(case, comparisons(case))}


SECTION = Section(WindowsPart, _compute)
