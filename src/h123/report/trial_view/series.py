"""Draws the figures over time, each of which shows one quantity for all attempts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from h123.base.units import common_unit, format_rate, format_seconds, format_span
from h123.causes import Times
from h123.flow import (
    Bins,
    Numbers,
    SentSoFar,
    Series,
    bytes_in_flight,
    capacity,
    fate_times,
    full_queue_ns,
    logged_round_trip,
    logged_window,
    round_trips,
    sender_window,
    sequences,
    smoothed_round_trip,
    throughput,
    waiting,
)
from h123.packets.capture import DOWN, UP, Packets
from h123.packets.stack_log import StackLog
from h123.packets.tcp_account import Account
from h123.report.figures.drawing import Figure
from h123.report.trial_view.arm import Arm
from h123.report.trial_view.over_time import FATES, HELD, Line, Panel, Ticks, over_time

MOST = 400
"""The largest number of bins in a picture: two pixels each on a wide screen."""
WAYS = {DOWN: "down, to the client", UP: "up, to the server"}
RATE = "the link's rate"
WINDOW, SMOOTHED, FULL = "congestion window", "smoothed round trip", "a full queue"
CONNECTIONS = 8
"""The largest number of an arm's connections in a sequence plot."""
_LOOKS, _FEW = 5, 60
"""The smallest number of values for which a line is drawn, and the largest number for which each value is marked."""
_FAR = 4
"""The multiple of the largest measured value above which a limit is named instead of drawn, because it would flatten
the rest."""


def bins_of(arms: Sequence[Arm]) -> Bins:
    """Return bins from time 0, at which each attempt's client began, to the end of the longest attempt."""
    return Bins.covering(0, max(arm.end_ns - arm.begin_ns for arm in arms), MOST)


def loss_marks(arms: Sequence[Arm], bins: Bins, ways: Sequence[int] = (DOWN, UP)) -> list[Ticks]:
    """Return the losses of all attempts, grouped by attempt and by the packets' fate, with a mark for each bin that
    contains any."""
    marks = []
    for number, arm in enumerate(arms):
        for fate in FATES:
            times = np.concatenate([fate_times(arm.of_way(way), fate) for way in ways]) - arm.begin_ns
            if len(full := np.flatnonzero(bins.counts(times))):
                marks.append(Ticks(number, fate, bins.begins[full] / 1e9))
    return marks


def stall_marks(arms: Sequence[Arm], bins: Bins, way: int) -> list[Ticks]:
    """Return a mark for each bin in which flow control blocked the sender in a direction, according to the server's
    log."""
    marks = []
    for number, arm in enumerate(arms):
        own = arm.sender(way) == "server"
        blocked = np.zeros(bins.count, bool)
        for span in (span for log in arm.logs if log for span in log.stalls if span.own == own):
            first, last = (np.array([span.begin, span.end]) - arm.begin_ns - bins.begin) // bins.width
            blocked[max(first, 0) : last + 1] = True
        if blocked.any():
            marks.append(Ticks(number, HELD, bins.begins[blocked] / 1e9))
    return marks


def throughput_figure(arms: Sequence[Arm], bins: Bins) -> Figure:
    caption = (
        f"The whole IP packets that left the link in each {width(bins)}, next to the link's rate (dashed). "
        f"{marked(bins)}"
    )
    panels = [_throughput(arms, bins, way) for way in WAYS]
    return over_time("throughput", "Throughput", caption, bins, panels, loss_marks(arms, bins))


def _throughput(arms: Sequence[Arm], bins: Bins, way: int) -> Panel:
    measured = [throughput(shifted(arm, way), bins) for arm in arms]
    rates = [capacity(arm.way(way), 0, bins.width * bins.count) for arm in arms]
    rates = [r for n, r in enumerate(rates) if len(r.times) and not any(_same(r, other) for other in rates[:n])]
    most = max(float(values.max()) for values in measured)
    near = [rate for rate in rates if rate.values.min() <= _FAR * most]
    scale, unit = rate_unit(max([most, *(rate.values.max() for rate in near)]))
    lines = [line(arm, number, bins, measured[number] / scale) for number, arm in enumerate(arms)]
    lines += [Line(RATE, None, rate.times / 1e9, rate.values / scale, dashed=True, steps=True) for rate in near]
    rates_text = " or ".join(format_rate(rate.values[0]) for rate in rates if all(rate is not other for other in near))
    return Panel(f"{WAYS[way]} ({RATE}: {rates_text})" if rates_text else WAYS[way], unit, lines)


def flight_figure(arms: Sequence[Arm], bins: Bins, way: int) -> Figure:
    """Draw bytes in flight in one direction, with the congestion window if the kernel recorded enough values for TCP,
    or if a QUIC server logged it."""
    flown = [bytes_in_flight(arm.connections, way, shifted_bins(bins, arm)) for arm in arms]
    windows = _senders(arms, bins, way, sender_window, logged_window)
    blocked = stall_marks(arms, bins, way)
    most = [float(values.max()) for values in flown] + [float(window.values.max()) for window in windows.values()]
    scale, unit = common_unit([max(most)], "B")
    lines = [line(arm, n, bins, flown[n] / scale) for n, arm in enumerate(arms)]
    lines += [sender_line(f"{arms[n].name}: {WINDOW}", n, window, scale) for n, window in windows.items()]
    caption = (
        f"Payload sent {WAYS[way]}, and neither known to have arrived nor sent again: the most in each {width(bins)} "
        "over all connections, according to their packets. "
        + (f"Dashed: the sum of the {WINDOW}s of the sender's connections, from its own record. " if windows else "")
        + ("Flow control: when it held the sender back, according to the server's qlog. " if blocked else "")
        + " ".join(_without_account(arms, windows, WINDOW))
    )
    return over_time(
        "flight", "Bytes in flight", caption, bins, [Panel("", unit, lines)], [*loss_marks(arms, bins, [way]), *blocked]
    )


def round_trip_figure(arms: Sequence[Arm], bins: Bins, way: int) -> Figure:
    """Draw the round trips that the sender could measure, and the sender's own smoothed estimate."""
    measured = [round_trips(arm.connections, way) for arm in arms]
    medians = [
        bins.medians(series.times - arm.begin_ns, series.values) for arm, series in zip(arms, measured, strict=True)
    ]
    estimates = _senders(arms, bins, way, smoothed_round_trip, logged_round_trip)
    most = [float(np.nanmax(values)) for values in medians if not np.isnan(values).all()]
    scale, unit = common_unit(
        [max([*most, *(float(series.values.max()) for series in estimates.values()), 1.0]) / 1e9], "s"
    )
    lines = [Line(arm.name, n, bins.begins / 1e9, medians[n] / 1e9 / scale) for n, arm in enumerate(arms)]
    lines += [sender_line(f"{arms[n].name}: {SMOOTHED}", n, series, scale * 1e9) for n, series in estimates.items()]
    caption = (
        f"From when a packet reached the link until its sender received the first packet that the other end sent after "
        f"it: the median of those sent {WAYS[way]} in each {width(bins)}, delayed acknowledgements included. "
        + (f"Dashed: the {SMOOTHED}, from the sender's own record. " if estimates else "")
        + " ".join(_without_account(arms, estimates, SMOOTHED))
    )
    marks = loss_marks(arms, bins, [way])
    return over_time("round-trip", "Round trip", caption, bins, [Panel("", unit, lines)], marks)


def queue_figure(arms: Sequence[Arm], bins: Bins) -> Figure | None:
    """Draw how long packets waited in the queue. None if no link has a rate."""
    panels = [panel for way in WAYS if (panel := _queue(arms, bins, way))]
    if not panels:
        return None
    full = any(line.dashed for panel in panels for line in panel.lines)
    caption = (
        f"How long packets waited at the link, in addition to its delay: the longest wait in each {width(bins)}. "
        + (f"Dashed: {FULL}. " if full else "")
        + marked(bins)
    )
    return over_time("queue", "Queue", caption, bins, panels, loss_marks(arms, bins))


def _queue(arms: Sequence[Arm], bins: Bins, way: int) -> Panel | None:
    waits = {n: waiting(shifted(arm, way), arm.way(way), shared=arm.shared) for n, arm in enumerate(arms)}
    waits = {n: series for n, series in waits.items() if len(series.values)}
    if not waits:
        return None
    longest = max(float(series.values.max()) for series in waits.values())
    full = {full for arm in arms if (full := full_queue_ns(arm.way(way)))}
    near = [scale for scale in sorted(full) if scale <= _FAR * longest]
    scale, unit = common_unit([max([longest, *near]) / 1e9], "s")
    lines = [
        line(arms[n], n, bins, bins.largest(series.times, series.values) / 1e9 / scale) for n, series in waits.items()
    ]
    span = np.array([0, bins.width * bins.count / 1e9])
    lines += [Line(FULL, None, span, np.full(2, most / 1e9 / scale), dashed=True) for most in near]
    far = " or ".join(format_seconds(most / 1e9) for most in sorted(full) if most not in near)
    return Panel(f"{WAYS[way]} ({FULL}: {far})" if far else WAYS[way], unit, lines)


def sequence_figure(arms: Sequence[Arm], bins: Bins, way: int) -> Figure:
    """Draw, for each connection, how many bytes the sender had sent so far."""
    curves = {n: sequences(arm.connections, way) for n, arm in enumerate(arms)}
    curves_shown = [(n, curve) for n, of in curves.items() for curve in of[:CONNECTIONS]]
    scale, unit = common_unit([max((float(curve.ends.max()) for _, curve in curves_shown), default=1.0)], "B")
    lines = [_sequence(arms[n], n, curve, bins, scale) for n, curve in curves_shown]
    many = max((len(of) for of in curves.values()), default=0)
    caption = (
        f"Bytes that had been sent {WAYS[way]}, with a line for each connection and a value for each {width(bins)}. "
        "For TCP, these are sequence numbers from the lowest; for QUIC, which encrypts its own, the payload of all "
        "datagrams. Crosses: packets that the link lost or had no room for; dots: bytes that TCP sent again; at most "
        "one of each per line and time."
        + (f" Of {many} connections, the {CONNECTIONS} with the most bytes are drawn." if many > CONNECTIONS else "")
    )
    return over_time("sequence", "Sequence", caption, bins, [Panel("", unit, lines, tall=True)])


def _sequence(arm: Arm, number: int, curve: SentSoFar, bins: Bins, scale: float) -> Line:
    times = curve.at - arm.begin_ns
    far = bins.largest(times, np.maximum.accumulate(curve.ends))
    present = ~np.isnan(far)
    crosses, again = (
        _one_each(bins, times[places], curve.ends[places] / scale) for places in (curve.losses, curve.again)
    )
    begins = bins.begins[present] / 1e9
    return Line(arm.name, number, begins, far[present] / scale, steps=True, crosses=crosses, dots=again)


def _one_each(bins: Bins, times: Times, values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first time and value in each bin."""
    _, firsts = np.unique((times - bins.begin) // bins.width, return_index=True)
    return times[firsts] / 1e9, values[firsts]


def main_way(arms: Sequence[Arm]) -> int:
    """Return the direction that carried more of the shown trials' bytes."""
    return max(WAYS, key=lambda way: sum(int(arm.of_way(way)["bytes"].sum(dtype=np.int64)) for arm in arms))


def shifted_bins(bins: Bins, arm: Arm) -> Bins:
    """Return the bins on the attempt's own clock."""
    return replace(bins, begin=bins.begin + arm.begin_ns)


def _senders(
    arms: Sequence[Arm],
    bins: Bins,
    way: int,
    of_account: Callable[[Account, str], Series],
    of_logs: Callable[[Sequence[StackLog], Bins], Series],
) -> dict[int, Series]:
    """Return the values that senders recorded, by arm, with times since the client began. They come from the kernel's
    record of TCP, or from the log of a QUIC server that sends. An arm with too few values for a line is left out."""
    by_arm = {n: of_account(arm.account, arm.sender(way)) for n, arm in enumerate(arms) if arm.account is not None}
    for n, arm in enumerate(arms):
        logs = [log for log in arm.logs if log]
        if logs and arm.sender(way) == "server":
            by_arm[n] = of_logs(logs, shifted_bins(bins, arm))
    enough = {n: of for n, of in by_arm.items() if len(of.times) >= _LOOKS}
    return {n: Series(of.times - arms[n].begin_ns, of.values) for n, of in enough.items()}


def sender_line(name: str, arm: int, series: Series, scale: float) -> Line:
    """Return a dashed line of values that a sender recorded. The values are marked if there are few."""
    few = len(series.times) <= _FEW
    return Line(name, arm, series.times / 1e9, series.values / scale, dashed=True, points=few)


def _without_account(arms: Sequence[Arm], by_arm: Mapping[int, Series], what: str) -> Iterator[str]:
    """Yield, for each arm that lacks the figure, a sentence that says why."""
    for number, arm in enumerate(arms):
        if number in by_arm:
            continue
        if arm.quic:
            yield (
                f"{arm.name} is QUIC, of which the kernel keeps no record: no {what} unless a server that sends "
                "writes a qlog (qlog: true in the study's settings)."
            )
        elif arm.trial.clock == "virtual":
            yield f"Under the virtual clock, TCP's state is recorded only at the end: no {what} of {arm.name}."
        else:
            yield f"TCP's state was recorded too rarely, or not at all, to show the {what} of {arm.name}."


def _same(series: Series, other: Series) -> bool:
    return np.array_equal(series.times, other.times) and np.array_equal(series.values, other.values)


def shifted(arm: Arm, way: int) -> Packets:
    """Return the attempt's packets in a direction, with times counted from the client's start."""
    packets = arm.of_way(way).copy()
    packets["at_ns"] -= arm.begin_ns
    packets["left_ns"][packets["left_ns"] > 0] -= arm.begin_ns
    return packets


def line(arm: Arm, number: int, bins: Bins, values: Numbers) -> Line:
    """Return a line with one value for each bin. Bins that the attempt's record of packets does not cover have no
    value."""
    covered = not arm.left_out or bins.begins + bins.width <= arm.recorded_to - arm.begin_ns
    return Line(arm.name, number, bins.begins / 1e9, np.where(covered, values, np.nan), steps=True)


def rate_unit(most: float) -> tuple[float, str]:
    """Return the most readable unit for this many bits per second."""
    return next((step for step in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")) if most >= step[0]), (1, "bit/s"))


def width(bins: Bins) -> str:
    return f"{bins.width / 1e6:g} ms" if bins.width < 10**9 else format_span(bins.width / 1e9)


def marked(bins: Bins) -> str:
    """Explain the marks above a figure."""
    return f"Marks above: packets that the link lost or had no room for, one for each {width(bins)} that had any."
