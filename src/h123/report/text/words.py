"""Writes names and numbers in readable form. The words for metrics are in study/metrics/table.py, the words for causes
in causes/cause.py, and all others in vocabulary.toml."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NotRequired

from typing_extensions import ReadOnly, TypedDict

from h123.analysis import meaningful
from h123.analysis.comparisons.rows import VerdictRow
from h123.base.units import figures
from h123.study import metric

_VOCABULARY: dict[str, Any] = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text("utf-8"))


class Bounds(TypedDict):
    """A row with an interval."""

    low: ReadOnly[float | None]
    high: ReadOnly[float | None]
    confidence: NotRequired[ReadOnly[float | None]]
    """The confidence of the interval. Absent if all rows have the same confidence."""


class MetricVerdict(TypedDict):
    """A row with a verdict on one metric."""

    metric: ReadOnly[str]
    verdict: ReadOnly[str]


_CUSTOMARY_CONFIDENCE = (0.99, 0.95, 0.90)


def level(name: str) -> str:
    """Return a factor's level in everyday words: `HTTP/3` for `h3`."""
    return str(_VOCABULARY["levels"].get(name, name))


def treatment(cell: Mapping[str, str], factor: str, twin: bool) -> str:
    """Return a treatment's name: the compared factor's level, marked if it is the A/A twin."""
    return level(cell[factor]) + (" again" if twin else "")


def other_factors(cell: Mapping[str, str], factor: str) -> str:
    """Return the name of a trial's cell, without the compared factor."""
    return cell_name({name: level_name for name, level_name in cell.items() if name != factor})


def reason(code: str) -> str:
    return str(_VOCABULARY["reasons"].get(code, code))


def cause(code: str, default: str) -> str:
    """Return a cause in words. `default` is the cause's name in verdicts.json, for causes from other versions."""
    from h123.causes import WORDS  # imported here, because it loads numpy, which lists of claims do not need

    return WORDS.get(code, default)


def withheld(kind: str) -> str:
    """Say in a few words why a comparison has no verdict; empty if only the full reason can explain it."""
    return str(_VOCABULARY["withheld"].get(kind, ""))


def failed_audit(code: str, trials: str) -> str | None:
    """Describe a failed audit in one line, or return None if it has no short form. `trials` is text: `2 of 119
    trials`."""
    text = _VOCABULARY["audits"].get(code)
    return str(text).format(trials=trials) if text else None


def cell_name(cell: Mapping[str, str]) -> str:
    """Return the short name of a cell: `poor`, or `poor, light` if several factors vary."""
    return ", ".join(level(name) for name in cell.values())


def place(cell: Mapping[str, str]) -> str:
    """Say which cell a comparison is about: `on poor under light load`. Empty if only the compared factor varies."""
    places, phrases, before = _VOCABULARY["places"], list[str](), ""
    for factor, name in cell.items():
        phrase = places.get(factor, places["default"]).format(factor=factor, level=level(name))
        preposition, _, rest = phrase.partition(" ")
        phrases.append(f"and {rest}" if preposition == before else phrase)
        before = preposition
    return " ".join(phrases)


def ratio(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Format a ratio with as many decimals as its interval justifies. Return a dash for None."""
    if value is None:
        return "–"
    if not 0.1 <= value < 10:
        return figures(value)
    narrow = low is not None and high is not None and high - low < 0.02
    return f"{value:.3f}" if narrow else f"{value:.2f}"


def interval(row: Bounds) -> str:
    """Format the interval of a ratio: `0.64 – 0.78`, or a dash if there are too few blocks."""
    low, high = row["low"], row["high"]
    if low is None or high is None or not meaningful(row.get("confidence", 1.0)):
        return "–"
    return f"{ratio(low, low, high)} – {ratio(high, low, high)}"


def percent(share: float | None) -> str:
    """Format a share as a percentage without needless zeros: `96.9 %`, `5 %`."""
    return "–" if share is None else f"{share * 100:.1f}".removesuffix(".0") + " %"


def confidence_words(attained: float) -> str:
    """Return the highest customary level that the attained confidence reaches (96.9 % reaches 95 %). If there is none,
    return the attained confidence."""
    return percent(next((usual for usual in _CUSTOMARY_CONFIDENCE if attained >= usual - 1e-9), attained))


def verdict_word(comparison: VerdictRow) -> str:
    """Return the verdict in the words of its metric: goodput is `lower`, not `slower`."""
    if comparison.get("withheld"):
        return "not judged"
    if small := comparison.get("small"):
        return f"{metric_word(comparison['metric'], small)}, within the margin"
    return metric_word(comparison["metric"], comparison["verdict"])


def metric_word(name: str, verdict: str) -> str:
    """Return the metric's own word for a verdict, such as `higher` for better goodput."""
    of = metric(name)
    words = {"better": of.words.better, "worse": of.words.worse, "inconclusive": "cannot tell yet"}
    return words.get(of.standing(verdict), verdict)


def metric_titles(names: Iterable[str]) -> list[str]:
    return [metric(name).title for name in dict.fromkeys(names)]


def standing(row: MetricVerdict) -> str:
    """Return the standing of the first level: `better`, `worse`, `equivalent` or `inconclusive`."""
    return metric(row["metric"]).standing(row["verdict"])


def decided(row: MetricVerdict) -> bool:
    """Return whether one of the levels is better."""
    return standing(row) in ("better", "worse")


def listed(names: Sequence[str], last: str) -> str:
    """Join names with commas, and with the word `last` before the last name: `a, b or c`."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def unbroken(text: str) -> str:
    """Put no-break spaces between a number and its unit, and within an interval."""
    return text.replace(" %", "\u00a0%").replace("\u00a0% ", "\u00a0%\u00a0").replace(" – ", "\u00a0–\u00a0")


def opened(where: str, rest: str) -> str:
    """Join a sentence's beginning, such as `On poor`, and its rest. Only the first letter is capitalised, because names
    keep their case."""
    text = f"{where}, {rest}" if where else rest
    return text[:1].upper() + text[1:]
