"""Claims against arithmetic and physics: pure functions of the figures that a claim prints.

A claim one of whose figures fails is impossible as printed. A claim that passes, or has no figure to check, is open:
only a measurement decides it.
"""

import math
from dataclasses import dataclass

from h123.base.units import figures, format_bytes, format_rate, format_seconds
from h123.study.claims import checks


@dataclass(frozen=True)
class Arithmetic:
    """One check: whether the printed figure can be, and the arithmetic in words."""

    passed: bool
    shown: str


def check(one: checks.Check) -> Arithmetic:
    """The arithmetic of one check."""
    match one:
        case checks.RateCheck():
            return _rate(one)
        case checks.TransferCheck():
            return _transfer(one)
        case checks.LittleCheck():
            return _little(one)
        case checks.CountCheck():
            return _count(one)
        case checks.RoundTripsCheck():
            return _round_trips(one)
        case checks.ProductCheck():
            return _product(one)
        case checks.WorkCheck():
            return _work(one)
        case checks.PercentageCheck():
            return _percentage(one)
        case checks.RankBiserialCheck():
            return _rank_biserial(one)
        case checks.SmallestPCheck():
            return _smallest_p(one)
        case checks.ManyTestsCheck():
            return _many_tests(one)
        case checks.OneNumberCheck():
            return _one_number(one)
        case checks.TlsCheck():
            return _tls(one)


def _figure(printed: float) -> str:
    """As it was printed, up to six digits."""
    return figures(printed, 6)


def _rate(one: checks.RateCheck) -> Arithmetic:
    bits = one.rps * one.size * 8
    most = one.link / (one.size * 8)
    shown = f"{_figure(one.rps)} requests/s x {format_bytes(one.size)} x 8 = {format_rate(bits)}"
    return Arithmetic(
        bits <= one.link, f"{shown}; the link carries {format_rate(one.link)}: at most {figures(most, 4)} requests/s"
    )


def _transfer(one: checks.TransferCheck) -> Arithmetic:
    bits = one.users * one.size * 8 / (one.time / 1e9)
    shared = f"{one.users} users x " if one.users > 1 else ""
    shown = f"{shared}{format_bytes(one.size)} x 8 / {format_seconds(one.time / 1e9)} = {format_rate(bits)}"
    return Arithmetic(bits <= one.link, f"{shown}; the link carries {format_rate(one.link)}")


def _little(one: checks.LittleCheck) -> Arithmetic:
    """Little, Oper. Res. 9 (1961): rate = in flight / time in flight, and that is a round trip at least."""
    most = one.in_flight / (one.round_trip / 1e9)
    shown = f"{one.in_flight} in flight / {format_seconds(one.round_trip / 1e9)} = at most {_figure(most)} requests/s"
    return Arithmetic(one.rps <= most, f"{shown}; {_figure(one.rps)} claimed")


def _count(one: checks.CountCheck) -> Arithmetic:
    most = one.requests / (one.time / 1e9)
    shown = f"{one.requests} requests / {format_seconds(one.time / 1e9)} = at most {figures(most, 4)} requests/s"
    return Arithmetic(one.rps <= most, f"{shown}; {_figure(one.rps)} claimed")


def _round_trips(one: checks.RoundTripsCheck) -> Arithmetic:
    least, each = one.trips * one.round_trip, format_seconds(one.round_trip / 1e9)
    said = f"a round trip of {each} takes" if one.trips == 1 else f"{one.trips} round trips of {each} take"
    shown = f"{said} {format_seconds(least / 1e9)}"
    return Arithmetic(one.time >= least, f"{shown}; {format_seconds(one.time / 1e9)} claimed")


def _product(one: checks.ProductCheck) -> Arithmetic:
    product = math.prod(one.factors)
    passed = abs(one.printed / product - 1) <= one.within
    return Arithmetic(
        passed,
        f"{' x '.join(_figure(f) for f in one.factors)} = {figures(product, 4)}; {_figure(one.printed)} printed",
    )


def _work(one: checks.WorkCheck) -> Arithmetic:
    """The utilization law: busy = rate x service time, and each core is busy for a second a second at most."""
    each = one.each / 1e9
    busy = one.per_second * each
    shown = f"{_figure(one.per_second)} a second x {format_seconds(each)} keep {figures(busy)} cores busy"
    return Arithmetic(busy <= one.cores, f"{shown}, of {one.cores}")


def _percentage(one: checks.PercentageCheck) -> Arithmetic:
    change, swapped = (100 * (a / b - 1) for a, b in ((one.after, one.before), (one.before, one.after)))
    slack = 0.5 * 10**-one.digits + _rounding(one.before, one.after)
    passed = abs(change - one.printed) <= slack
    after, before, digits = _figure(one.after), _figure(one.before), one.digits
    shown = f"{after} / {before} - 1 = {change:+.{digits}f} %; {one.printed:+.{digits}f} % printed"
    if not passed and abs(abs(swapped) - abs(one.printed)) <= slack:
        shown += f": the base is swapped ({before} / {after} - 1 = {swapped:+.{digits}f} %)"
    return Arithmetic(passed, shown)


def _rounding(before: float, after: float) -> float:
    """How far, in percentage points, the ratio of two printed figures can be off, each by half its last digit.

    A zero at the end is not seen (1.60 is 1.6): the doubt is the claim's.
    """
    shares = [0.5 * 10.0 ** -len(f"{value:.10g}".partition(".")[2]) / value for value in (before, after)]
    return 100 * after / before * sum(shares)


def _rank_biserial(one: checks.RankBiserialCheck) -> Arithmetic:
    """r = 1 - 2 U / (n m); U is a whole number, or half of one with ties (Kerby, Compr. Psychol. 3, 2014)."""
    cells = one.first * one.second
    nearest = min((1 - u / cells for u in range(2 * cells + 1)), key=lambda r: abs(r - one.printed))
    passed = abs(nearest - one.printed) <= 0.5 * 10**-one.digits + 1e-12
    shown = f"r = 1 - 2 U / {cells} with {one.first} v {one.second} runs goes in steps of 1/{cells}"
    return Arithmetic(passed, f"{shown}, ties included: nearest to {one.printed:g} is {nearest:.{one.digits}f}")


def _smallest_p(one: checks.SmallestPCheck) -> Arithmetic:
    """Mann and Whitney, Ann. Math. Statist. 18 (1947): all orders of the runs are equally likely."""
    orders = math.comb(one.first + one.second, one.first)
    smallest = min(1.0, 2 / orders)
    shown = f"2 / C({one.first + one.second}, {one.first}) = 2 / {orders} = {smallest:.3g}"
    return Arithmetic(
        smallest <= one.alpha, f"smallest exact two-sided p: {shown}; {one.alpha:g} is said to be reached"
    )


def _many_tests(one: checks.ManyTestsCheck) -> Arithmetic:
    """With nothing to find, and tests that do not hang together."""
    false, any_false = one.tests * one.alpha, -math.expm1(one.tests * math.log1p(-one.alpha))
    found = f"find {figures(false, 2)} differences by chance, at least one in {any_false:.1%}"
    shown = f"{one.tests} tests at {one.alpha:g} {found}"
    return Arithmetic(any_false <= one.alpha * (1 + 1e-9), f"{shown} of such studies")


def _one_number(one: checks.OneNumberCheck) -> Arithmetic:
    """What each user waits for decides what all of them carry: rate = users x size / time (Little)."""
    (slow, quick), (low, high) = one.times, one.rates
    apart = abs(slow / quick / (high / low) - 1)
    times, rates = (f"{_figure(a)} / {_figure(b)} = {figures(a / b)}" for a, b in ((slow, quick), (high, low)))
    shown = f"{times} and {rates}"
    return Arithmetic(
        apart > one.within, shown + ("" if apart > one.within else ": one observation, told as a time and as a rate")
    )


def _tls(one: checks.TlsCheck) -> Arithmetic:
    possible = one.protocol != "h3" or one.tls == "1.3"
    shown = "QUIC has no handshake but TLS 1.3's (RFC 9001, section 4.2)" if not possible else "both exist"
    return Arithmetic(possible, f"HTTP/{one.protocol.removeprefix('h')} over TLS {one.tls}: {shown}")
