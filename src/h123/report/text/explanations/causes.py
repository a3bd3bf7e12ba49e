"""Explains a difference: what a request, visit or recovery spent its time on at both levels, and which parts differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import ReadOnly, TypedDict

from h123.analysis import CONFIDENCE, explained_phase, headline, meaningful, no_interval
from h123.analysis.comparisons.rows import Cell
from h123.analysis.explanations.causes import CauseRow, CausesPart, CausesRow, SecondsBetween
from h123.analysis.sections import Verdicts
from h123.base.errors import UserError
from h123.base.units import figures, format_bytes, format_seconds
from h123.report.text.words import cause, cell_name, confidence_words, level, listed, opened, place, unbroken
from h123.study import metric
from h123.study.metrics.quantity import PageTime, RecoveryTime, RequestTime


class MetricRow(TypedDict):
    """A row about one metric."""

    metric: ReadOnly[str]


class PlacedRow(MetricRow):
    """A row about one metric in one cell."""

    cell: ReadOnly[Cell]


class PartRow(TypedDict):
    """The time that both levels spent on one cause, or in total."""

    words: str
    a_seconds: float
    b_seconds: float
    difference: SecondsBetween


_NAMED = 3
DRAWN = 0.02
"""The smallest share of the longer side's time at which a part is drawn as a bar."""
_WORTH = 0.1
"""The share of the largest part's difference below which a part is not named in a sentence."""
NOTICED = 0.01
"""The share of the longer side's time below which a difference or a part is not worth mentioning."""
_SIZED: Mapping[str, Callable[[float], str]] = {
    "place": lambda size: f"{size:.0f} at a time",
    **dict.fromkeys(("limit", "receiver"), lambda size: f"{format_bytes(size)} per round trip"),
    **dict.fromkeys(
        ("stream-limit", "connection-limit"), lambda size: f"a window of {size:,.0f} bytes".replace(",", " ")
    ),
}
"""Causes whose size is reported, with the format of the size."""
_TRIPS = 1.5
"""The smallest number of round trips that the text mentions."""
_NOTHING_S = 5e-6
_MINUS = "\u2212"


def cause_rows(verdicts: CausesPart) -> list[CausesRow]:
    """Return all rows; empty for a campaign whose trials recorded no packets."""
    return list(verdicts.get("causes", []))


def sentence(row: CausesRow) -> str:
    """Describe the difference: `On poor, the mean time of a request is 455 ms shorter with HTTP/3 than with HTTP/2:
    390 ms less for ..., 61 ms less for ... and 12 ms more for ...`"""
    a, b, whole = level(row["a"]), level(row["b"]), row["difference"]["seconds"]
    time = f"the {observation(row).typical} time of a {kind(row)}"
    text = f"{time} is {format_seconds(abs(whole))} {'shorter' if whole < 0 else 'longer'} with {a} than with {b}"
    if row["difference"]["confidence"] < CONFIDENCE:
        few = f"{row['blocks']} {'blocks are' if row['blocks'] > 1 else 'block is'} too few to say"
        return unbroken(opened(place(row["cell"]), f"{text} so far ({few} what makes the difference)."))
    if _alike(row):
        text = f"{time} is the same with {a} as with {b}, within {_percent(NOTICED)}"
        return unbroken(opened(place(row["cell"]), f"{text}."))
    if row["difference"]["low"] * row["difference"]["high"] <= 0:
        text = f"the difference in {time.removeprefix('the ')} between {a} and {b} may be chance"
        medians = "; the answer compares medians" if observation(row).typical == "mean" else ""
        return unbroken(opened(place(row["cell"]), f"{text} ({between(row['difference'])}{medians})."))
    if not row.get("told", True):
        return unbroken(
            opened(place(row["cell"]), f"{text}. The packets do not show why: {_most(row)} is unattributed.")
        )
    parts = [
        f"{amount(part['difference']['seconds'])} for {cause(part['cause'], part['words'])}{_detail(part)}"
        for part in main_parts(row)
    ]
    return unbroken(opened(place(row["cell"]), f"{text}: {listed(parts, 'and')}." if parts else f"{text}."))


def _detail(part: CauseRow) -> str:
    """Say how large a limit is and how often it cost a round trip: ` (65.5 kB per round trip, 4.1 round trips)`."""
    details = []
    if (size := part.get("size")) and part["cause"] in _SIZED:
        details.append(_SIZED[part["cause"]](size))
    if (trips := part.get("round_trips", 0.0)) >= _TRIPS:
        details.append(f"{figures(trips, 2)} round trips")
    return f" ({', '.join(details)})" if details else ""


def _most(row: CausesRow) -> str:
    """Name the side with more unattributed time: `23 % of the time of HTTP/3`."""
    shares = {row["a"]: row["sums"]["a_unattributed"], row["b"]: row["sums"]["b_unattributed"]}
    name = max(shares, key=lambda name: shares[name])
    return f"{_percent(shares[name])} of the time of {level(name)}"


PAIRED = "Differences are paired within blocks, so they need not equal the difference between the two columns."
"""The note below tables of parts."""


def sums(row: CausesRow) -> str:
    """Say how well the parts add up to the measured time. Empty for verdicts without this information."""
    if "sums" not in row:
        return ""
    shares = row["sums"]

    def of_both(a: float, b: float) -> str:
        return f"{_percent(a)} ({level(row['a'])}) and {_percent(b)} ({level(row['b'])})"

    of = observation(row)
    whole = of_both(shares["a_requests"], shares["b_requests"])
    unattributed = of_both(shares["a_unattributed"], shares["b_unattributed"])
    return unbroken(
        f"The parts add up to {of.whole}, within 2 %, in {whole} of the {of.plural}. Unattributed time: {unattributed}."
    )


def blocking_words(row: CausesRow) -> str:
    """Say how much of the cost of losses is head-of-line blocking. Empty if losses cost both levels little time."""
    of = row.get("losses")
    longer = max(row["a_seconds"], row["b_seconds"])
    if not of or max(of["a_seconds"], of["b_seconds"]) < DRAWN * longer:
        return ""
    if max(of["a_held"], of["b_held"]) < _NOTHING_S:
        return unbroken("No head-of-line blocking: no loss held back data of other requests.")
    noun = observation(row).singular
    sides = [(row["a"], of["a_held"], of["a_seconds"]), (row["b"], of["b_held"], of["b_seconds"])]
    most_first = sorted(sides, key=lambda side: -side[1])
    shares = [f"{_blocking_share(seconds, cost)} a {noun} with {level(name)}" for name, seconds, cost in most_first]
    return unbroken(
        "Head-of-line blocking (data of other requests had arrived but waited for a lost packet) accounts for "
        f"{listed(shares, 'and for')}."
    )


def _blocking_share(seconds: float, cost: float) -> str:
    """Describe a share of the cost of losses: `12 ms (31 %) of the 39 ms that losses cost`."""
    share = f"{format_seconds(seconds)} ({_percent(seconds / cost)})" if seconds >= _NOTHING_S else "none"
    return f"{share} of the {format_seconds(cost)} that losses cost"


def _percent(share: float) -> str:
    """Round a share so that `100 %` means all and `0 %` means none."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    return "over 99.9 %" if 0.999 < share < 1 else f"{share:.1%}".replace(".0%", "%").replace("%", " %")


def main_parts(row: CausesRow) -> list[CauseRow]:
    """Return the main parts of the difference, largest first, at most three. Each is worth mentioning, and its interval
    excludes zero."""
    parts = [part for part in row["parts"] if part["difference"]["low"] * part["difference"]["high"] > 0]
    least = _WORTH * max((abs(part["difference"]["seconds"]) for part in parts), default=0.0)
    worth = [part for part in parts if abs(part["difference"]["seconds"]) >= least]
    return [part for part in worth if noticed(row, part["difference"]["seconds"])][:_NAMED]


def _alike(row: CausesRow) -> bool:
    """Return whether neither the sides nor their parts differ noticeably."""
    difference = row["difference"]
    furthest = max(map(abs, (difference["seconds"], difference["low"], difference["high"])))
    return not noticed(row, furthest) and not main_parts(row)


def noticed(row: CausesRow, seconds: float) -> bool:
    """Return whether this part of the row's time is worth mentioning."""
    return abs(seconds) >= NOTICED * float(max(row["a_seconds"], row["b_seconds"]))


@dataclass(frozen=True)
class Observation:
    """Words for the kind of event whose time a row divides into parts: a request, a visit or a recovery."""

    singular: str
    plural: str
    whole: str
    """The name of the sum of the parts."""
    typical: Literal["mean", "median"]
    which: str
    """Which of a trial's requests or visits the row covers."""


_REQUEST = Observation(
    "request",
    "requests",
    "a request's latency",
    "mean",
    "the mean over its requests, because means of parts add up to the mean of the whole; the answer above compares "
    "medians, which do not add up",
)
VISIT = Observation(
    "visit",
    "visits",
    "a visit's time",
    "median",
    "the visit in the middle, along its critical path: from the document to the resource that ended last, each one "
    "due when the resource that requests it had arrived and run",
)
_RECOVERY = Observation(
    "recovery",
    "recoveries",
    "a recovery's time",
    "median",
    "the recovery from its client's move (the one in the middle, if there are several): from the move to the end of "
    "the first whole response",
)


def observation(row: MetricRow) -> Observation:
    match metric(row["metric"]).of:
        case PageTime():
            return VISIT
        case RecoveryTime():
            return _RECOVERY
        case _:
            return _REQUEST


def kind(row: MetricRow) -> str:
    """Return the kind of a row: `request`, `cold request`, `visit` or `recovery`."""
    match metric(row["metric"]).of:
        case RequestTime(phase="cold"):
            return f"cold {observation(row).singular}"
        case _:
            return observation(row).singular


def which(rows: Sequence[CausesRow]) -> str:
    """Return sentences that say which requests or visits of each trial the rows cover."""
    return " ".join(f"From each trial: {of.which}." for of in dict.fromkeys(map(observation, rows)))


def typical(row: CausesRow) -> str:
    """Name the typical value: `mean request`, `median visit` or `median recovery`."""
    return f"{observation(row).typical} {kind(row)}"


def amount(seconds: float) -> str:
    """Format a difference in time: `41 ms less`."""
    return f"{format_seconds(abs(seconds))} {'less' if seconds < 0 else 'more'}"


def signed(seconds: float) -> str:
    """Format a signed time: `−41 ms`; `0` if it is too small to matter."""
    if abs(seconds) < _NOTHING_S:
        return "0"
    return f"{_MINUS if seconds < 0 else '+'}{format_seconds(abs(seconds))}"


def between(difference: SecondsBetween) -> str:
    """Format the interval of a difference: `−45 ms to −38 ms`; a dash if it would mislead."""
    if not meaningful(difference["confidence"]):
        return "–"
    return f"{signed(difference['low'])} to {signed(difference['high'])}"


def confidence(row: CausesRow) -> str:
    """Explain the intervals of a row's parts, or say why none is shown."""
    attained = row["difference"]["confidence"]
    if not meaningful(attained):
        return f"No intervals: {no_interval(row['blocks'])}."
    return unbroken(f"The intervals hold with {confidence_words(attained)} confidence.")


def no_causes_error(verdicts: Verdicts) -> UserError:
    """Return the error that explains why there are no causes to show."""
    if cause_rows(verdicts):
        return UserError(
            "no causes are known for what --filter selects: its trials recorded no packets, as over a plain veth",
            remedy="leave out --filter, or name a network that limits or delays",
        )
    comparisons = headline(verdicts.get("comparisons", []))
    metrics = {c["metric"] for c in comparisons}
    reasons = [c["withheld"]["why"] for c in comparisons if c["withheld"] and not c["pairs"]]
    if reasons and len(reasons) == len(comparisons):
        return UserError(
            f"no causes are known for this campaign, because no block has a valid trial of both sides: {reasons[0]}",
            remedy="see each attempt's logs in the campaign's folder, below trials/",
        )
    if metrics and not any(map(explained_phase, metrics)):
        names = listed([metric(name).title for name in sorted(metrics)], "and")
        return UserError(
            "causes are known only for the times of whole requests, pages and recoveries from a move; this campaign "
            f"asks about {names}",
            remedy="see a trial's packets, windows and requests with h123 show DIR TRIAL",
        )
    if any(isinstance(metric(name).of, RecoveryTime) for name in metrics):
        return UserError(
            "no causes are known for this campaign's recoveries: no block has recorded packets and responses after the "
            "move for both sides",
            remedy="see what happened in a trial with h123 show DIR TRIAL",
        )
    return UserError(
        "no causes are known for this campaign: its trials recorded no packets",
        remedy="imported campaigns, those of early versions and trials over a plain veth have none",
    )


def title(row: PlacedRow) -> str:
    """Return the row's title: `poor, cold request`."""
    return ", ".join(filter(None, [cell_name(row["cell"]), kind(row)]))


def parts(row: CausesRow) -> list[PartRow]:
    """Return the parts that are worth mentioning, largest difference first, and the whole."""
    worth = (part for part in row["parts"] if noticed(row, max(part["a_seconds"], part["b_seconds"])))
    whole: PartRow = {
        "words": f"in all, over {row['blocks']} {'blocks' if row['blocks'] > 1 else 'block'}",
        "a_seconds": row["a_seconds"],
        "b_seconds": row["b_seconds"],
        "difference": row["difference"],
    }
    return [*map(_part, worth), whole]


def _part(part: CauseRow) -> PartRow:
    return {
        "words": cause(part["cause"], part["words"]),
        "a_seconds": part["a_seconds"],
        "b_seconds": part["b_seconds"],
        "difference": part["difference"],
    }
