"""How results are said: one sentence per comparison, and the names people use. The wording is in vocabulary.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from h123.units import format_bytes, format_rate, format_seconds

Comparison = Mapping[str, Any]
"""One element of `comparisons` in verdicts.json (docs/contracts.md, section 7)."""

_VOCABULARY: dict[str, Any] = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text("utf-8"))
_CUSTOMARY_CONFIDENCE = (0.99, 0.95, 0.90)
MEANINGFUL_CONFIDENCE = 0.8
"""An interval that holds the truth less often than this would only mislead in a sentence; tables still show it."""


@dataclass(frozen=True)
class Metric:
    """How a metric is named and which direction is good."""

    name: str
    title: str
    unit: str = ""
    goal: str = "lower"
    better: str = "better"
    worse: str = "worse"
    sentence: str = "{a} has {times} {b}'s value"
    meaning: str = ""

    def format(self, value: float | None) -> str:
        """A value of this metric with its unit, or a dash."""
        if value is None:
            return "–"
        if self.unit == "s":
            return format_seconds(value)
        if self.unit in ("B", "B/s"):
            return format_bytes(value) + self.unit[1:]
        return format_rate(value) if self.unit == "bit/s" else f"{value:.3g}"


def metric(name: str) -> Metric:
    """The metric's wording; one nobody described is shown under its own name."""
    return Metric(name, **{"title": name, **_VOCABULARY["metrics"].get(name, {})})


def level(name: str) -> str:
    """A factor's level as people say it: `HTTP/3` for `h3`."""
    return str(_VOCABULARY["levels"].get(name, name))


def reason(code: str) -> str:
    """Why a trial does not count."""
    return str(_VOCABULARY["reasons"].get(code, code))


def cell_name(cell: Mapping[str, str]) -> str:
    """The short name of a cell: `poor`, or `poor, light` where several factors vary."""
    return ", ".join(level(name) for name in cell.values())


def place(cell: Mapping[str, str]) -> str:
    """Where a comparison holds: `on poor under light load`; empty where nothing but the compared factor varies."""
    places = _VOCABULARY["places"]
    return " ".join(
        places.get(factor, places["default"]).format(factor=factor, level=level(name)) for factor, name in cell.items()
    )


def ratio(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A ratio with as many decimals as its interval makes meaningful, or a dash."""
    if value is None:
        return "–"
    if not 0.1 <= value < 10:
        return f"{value:.3g}"
    narrow = low is not None and high is not None and high - low < 0.02
    return f"{value:.3f}" if narrow else f"{value:.2f}"


def interval(comparison: Comparison) -> str:
    """The interval of the ratio: `0.64 – 0.78`, or a dash where the blocks are too few for any."""
    low, high = comparison["low"], comparison["high"]
    if low is None or high is None:
        return "–"
    return f"{ratio(low, low, high)} – {ratio(high, low, high)}"


def percent(share: float | None) -> str:
    """A share as a percentage without needless zeros: `96.9 %`, `5 %`."""
    return "–" if share is None else f"{share * 100:.1f}".removesuffix(".0") + " %"


def confidence_words(attained: float) -> str:
    """The highest customary level that the attained confidence covers (96.9 % covers 95 %), else the attained one."""
    return percent(next((usual for usual in _CUSTOMARY_CONFIDENCE if attained >= usual - 1e-9), attained))


def verdict_word(comparison: Comparison) -> str:
    """The verdict as this metric calls it: faster CPU is `cheaper`, slower goodput is `lower`."""
    wording = metric(comparison["metric"])
    words = {"faster": wording.better, "slower": wording.worse, "inconclusive": "cannot tell yet"}
    verdict = str(comparison["verdict"])
    return words.get(verdict, verdict)


def sentence(comparison: Comparison, margin: float | None = None) -> str:
    """A comparison's result in one sentence, verdict included; `margin` is the equivalence margin (0.05: 5 %)."""
    names = {"a": level(comparison["a"]), "b": level(comparison["b"]), "workload": comparison["workload"]}
    where = place(comparison["cell"])
    if comparison["ratio"] is None:
        return _say(where, f"no answer: no block has valid trials of both {names['a']} and {names['b']}.")
    value = ratio(comparison["ratio"], comparison["low"], comparison["high"])
    times = f"{value} of" if comparison["ratio"] < 1 else f"{value} times"
    fact = metric(comparison["metric"]).sentence.format(**names, times=times)
    fact += f", {_evidence(comparison)}"
    if comparison["verdict"] == "inconclusive":
        return _say(where, f"cannot tell yet: {fact}; needs more blocks.")
    return _say(where, f"{fact}: {_conclusion(comparison, margin)}.")


def _evidence(comparison: Comparison) -> str:
    if comparison["low"] is None or (comparison["confidence"] or 0) < MEANINGFUL_CONFIDENCE:
        blocks = comparison["blocks"]
        return f"from {blocks} block{'' if blocks == 1 else 's'}, too few for an interval"
    return f"{confidence_words(comparison['confidence'])} {interval(comparison)}"


def _conclusion(comparison: Comparison, margin: float | None) -> str:
    if comparison["verdict"] == "equivalent":
        return f"equivalent within {percent(margin) if margin is not None else 'the margin'}"
    return verdict_word(comparison)


def _say(where: str, rest: str) -> str:
    # Only the first letter is raised: the rest may hold names whose capitals matter.
    text = f"{where}, {rest}" if where else rest
    return text[:1].upper() + text[1:]
