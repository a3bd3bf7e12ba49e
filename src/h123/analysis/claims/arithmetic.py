"""Checks the printed figures of claims by arithmetic and physics, in pure functions. If a figure fails, the claim is
impossible as printed. If all pass, or there is no figure to check, the claim is open: only a measurement can decide it.
"""

import math
from dataclasses import dataclass

from h123.base.units import figures, format_bytes, format_rate, format_seconds
from h123.study.claims import checks


@dataclass(frozen=True)
class Arithmetic:
    """The result of one check: whether the printed figure is possible, and the calculation in words."""

    passed: bool
    text: str


def check(numbers: checks.Check) -> Arithmetic:
    match numbers:
        case checks.RateCheck():
            return _rate(numbers)
        case checks.TransferCheck():
            return _transfer(numbers)
        case checks.LittleCheck():
            return _little(numbers)
        case checks.CountCheck():
            return _count(numbers)
        case checks.RoundTripsCheck():
            return _round_trips(numbers)
        case checks.ProductCheck():
            return _product(numbers)
        case checks.WorkCheck():
            return _work(numbers)
        case checks.PercentageCheck():
            return _percentage(numbers)
        case checks.RankBiserialCheck():
            return _rank_biserial(numbers)
        case checks.SmallestPCheck():
            return _smallest_p(numbers)
        case checks.ManyTestsCheck():
            return _many_tests(numbers)
        case checks.OneNumberCheck():
            return _one_number(numbers)
        case checks.TlsCheck():
            return _tls(numbers)


def _figure(printed: float) -> str:
    """Format a figure as it was printed, with up to six digits."""
    return figures(printed, 6)


def _rate(numbers: checks.RateCheck) -> Arithmetic:
    bits = numbers.rps * numbers.size * 8
    most = numbers.link / (numbers.size * 8)
    text = f"{_figure(numbers.rps)} requests/s x {format_bytes(numbers.size)} x 8 = {format_rate(bits)}"
    return Arithmetic(
        bits <= numbers.link,
        f"{text}; the link carries {format_rate(numbers.link)}: at most {figures(most, 4)} requests/s",
    )


def _transfer(numbers: checks.TransferCheck) -> Arithmetic:
    bits = numbers.users * numbers.size * 8 / (numbers.time / 1e9)
    shared = f"{numbers.users} users x " if numbers.users > 1 else ""
    text = f"{shared}{format_bytes(numbers.size)} x 8 / {format_seconds(numbers.time / 1e9)} = {format_rate(bits)}"
    return Arithmetic(bits <= numbers.link, f"{text}; the link carries {format_rate(numbers.link)}")


def _little(numbers: checks.LittleCheck) -> Arithmetic:
    """Check a claimed rate by Little's law (Oper. Res. 9, 1961): it is at most the number of requests in flight divided
    by a round trip."""
    most = numbers.in_flight / (numbers.round_trip / 1e9)
    trip = format_seconds(numbers.round_trip / 1e9)
    text = f"{numbers.in_flight} in flight / {trip} = at most {_figure(most)} requests/s"
    return Arithmetic(numbers.rps <= most, f"{text}; {_figure(numbers.rps)} claimed")


def _count(numbers: checks.CountCheck) -> Arithmetic:
    most = numbers.requests / (numbers.time / 1e9)
    text = f"{numbers.requests} requests / {format_seconds(numbers.time / 1e9)} = at most {figures(most, 4)} requests/s"
    return Arithmetic(numbers.rps <= most, f"{text}; {_figure(numbers.rps)} claimed")


def _round_trips(numbers: checks.RoundTripsCheck) -> Arithmetic:
    least, each = numbers.trips * numbers.round_trip, format_seconds(numbers.round_trip / 1e9)
    trips = f"a round trip of {each} takes" if numbers.trips == 1 else f"{numbers.trips} round trips of {each} take"
    text = f"{trips} {format_seconds(least / 1e9)}"
    return Arithmetic(numbers.time >= least, f"{text}; {format_seconds(numbers.time / 1e9)} claimed")


def _product(numbers: checks.ProductCheck) -> Arithmetic:
    product = math.prod(numbers.factors)
    passed = abs(numbers.printed / product - 1) <= numbers.within
    factors = " x ".join(map(_figure, numbers.factors))
    return Arithmetic(passed, f"{factors} = {figures(product, 4)}; {_figure(numbers.printed)} printed")


def _work(numbers: checks.WorkCheck) -> Arithmetic:
    """Check a claim by the utilization law: the cores' busy time is rate x service time, and each core is busy for at
    most one second per second."""
    each = numbers.each / 1e9
    busy = numbers.per_second * each
    text = f"{_figure(numbers.per_second)} a second x {format_seconds(each)} keep {figures(busy)} cores busy"
    return Arithmetic(busy <= numbers.cores, f"{text}, of {numbers.cores}")


def _percentage(numbers: checks.PercentageCheck) -> Arithmetic:
    change, swapped = (100 * (a / b - 1) for a, b in ((numbers.after, numbers.before), (numbers.before, numbers.after)))
    slack = 0.5 * 10**-numbers.digits + _rounding(numbers.before, numbers.after)
    passed = abs(change - numbers.printed) <= slack
    after, before, digits = _figure(numbers.after), _figure(numbers.before), numbers.digits
    text = f"{after} / {before} - 1 = {change:+.{digits}f} %; {numbers.printed:+.{digits}f} % printed"
    if not passed and abs(abs(swapped) - abs(numbers.printed)) <= slack:
        text += f": the base is swapped ({before} / {after} - 1 = {swapped:+.{digits}f} %)"
    return Arithmetic(passed, text)


def _rounding(before: float, after: float) -> float:
    """Return how far the ratio of two printed figures can be off, in percentage points, if each is off by half of its
    last digit.

    Trailing zeros are not visible (1.60 reads as 1.6), which favours the claim.
    """
    shares = [0.5 * 10.0 ** -len(f"{value:.10g}".partition(".")[2]) / value for value in (before, after)]
    return 100 * after / before * sum(shares)


def _rank_biserial(numbers: checks.RankBiserialCheck) -> Arithmetic:
    """Check that the printed rank-biserial correlation is possible: r = 1 - 2 U / (n m), where U is a whole number, or
    a multiple of 1/2 if there are ties (Kerby, Compr. Psychol. 3, 2014)."""
    cells = numbers.first * numbers.second
    nearest = min((1 - u / cells for u in range(2 * cells + 1)), key=lambda r: abs(r - numbers.printed))
    passed = abs(nearest - numbers.printed) <= 0.5 * 10**-numbers.digits + 1e-12
    text = f"r = 1 - 2 U / {cells} with {numbers.first} v {numbers.second} runs goes in steps of 1/{cells}"
    return Arithmetic(passed, f"{text}, ties included: nearest to {numbers.printed:g} is {nearest:.{numbers.digits}f}")


def _smallest_p(numbers: checks.SmallestPCheck) -> Arithmetic:
    """Check that the test can reach the significance level that the work claims. The smallest possible p follows from
    the number of ways to rank the two groups' runs, which are equally likely if there is no difference (Mann and
    Whitney, Ann. Math. Statist. 18, 1947)."""
    orders = math.comb(numbers.first + numbers.second, numbers.first)
    smallest = min(1.0, 2 / orders)
    text = f"2 / C({numbers.first + numbers.second}, {numbers.first}) = 2 / {orders} = {smallest:.3g}"
    return Arithmetic(
        smallest <= numbers.alpha,
        f"smallest exact two-sided p: {text}; {numbers.alpha:g} is said to be reached",
    )


def _many_tests(numbers: checks.ManyTestsCheck) -> Arithmetic:
    """Check that the chance of a false finding among several tests is at most the level of one test, if the tests are
    independent and there is nothing to find."""
    false, any_false = (
        numbers.tests * numbers.alpha,
        -math.expm1(numbers.tests * math.log1p(-numbers.alpha)),
    )
    differences = f"find {figures(false, 2)} differences by chance, at least one in {any_false:.1%}"
    text = f"{numbers.tests} tests at {numbers.alpha:g} {differences}"
    return Arithmetic(any_false <= numbers.alpha * (1 + 1e-9), f"{text} of such studies")


def _one_number(numbers: checks.OneNumberCheck) -> Arithmetic:
    """Check that a time and a rate are two separate observations. In a closed loop they are a single one, because rate
    = users x size / time (Little), and the ratio of the rates then repeats the ratio of the times."""
    (slow, quick), (low, high) = numbers.times, numbers.rates
    apart = abs(slow / quick / (high / low) - 1)
    times, rates = (f"{_figure(a)} / {_figure(b)} = {figures(a / b)}" for a, b in ((slow, quick), (high, low)))
    text = f"{times} and {rates}"
    return Arithmetic(
        apart > numbers.within,
        text + ("" if apart > numbers.within else ": one observation, stated as a time and as a rate"),
    )


def _tls(numbers: checks.TlsCheck) -> Arithmetic:
    possible = numbers.protocol != "h3" or numbers.tls == "1.3"
    text = "QUIC has no handshake but TLS 1.3's (RFC 9001, section 4.2)" if not possible else "both exist"
    return Arithmetic(possible, f"HTTP/{numbers.protocol.removeprefix('h')} over TLS {numbers.tls}: {text}")
