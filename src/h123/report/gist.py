"""The gist of many answers: one sentence for each verdict and pair, with the levels at which it holds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from h123.report.words import level, metric, ratio, verdict_word

Row = Mapping[str, Any]

ENOUGH_TO_READ = 6
"""More answers than this are summed up."""


def gist(answers: Sequence[Row]) -> list[tuple[str, str]]:
    """(verdict, sentence), the most frequent verdict first: `HTTP/3 / HTTP/2, latency: faster in 16 of 24 (0.62 to
    0.82): network medium or poor.` Empty where the answers are few enough to be read one by one.
    """
    if len(answers) <= ENOUGH_TO_READ:
        return []
    found: list[tuple[str, str]] = []
    for asked in dict.fromkeys((a["metric"], a["a"], a["b"]) for a in answers):
        about = [a for a in answers if (a["metric"], a["a"], a["b"]) == asked]
        verdicts = [verdict for verdict, _ in Counter(a["verdict"] for a in about).most_common()]
        found += [(verdict, _sentence(verdict, about)) for verdict in verdicts]
    return found


def _sentence(verdict: str, about: Sequence[Row]) -> str:
    held = [a for a in about if a["verdict"] == verdict]
    first, ratios = held[0], [a["ratio"] for a in held if a["ratio"] is not None]
    subject = f"{metric(first['metric']).title}, {level(first['a'])} / {level(first['b'])}"
    if len(about) == 1:
        return f"{subject}: {verdict_word(first)}" + (f" ({ratio(ratios[0])})." if ratios else ".")
    span = f" ({_span(ratio(min(ratios)), ratio(max(ratios)))})" if ratios else ""
    where = _where(held, about)
    return f"{subject}: {verdict_word(first)} in {len(held)} of {len(about)}{span}{where}."


def _span(least: str, most: str) -> str:
    return f"ratio {least}" if least == most else f"ratios {least} to {most}"


def _where(held: Sequence[Row], about: Sequence[Row]) -> str:
    """The factors of which not all levels are among those of `held`; and whether it holds at all that have them."""
    named: dict[str, list[str]] = {}
    for factor in about[0]["cell"]:
        levels = list(dict.fromkeys(a["cell"][factor] for a in held))
        if len(levels) < len({a["cell"][factor] for a in about}):
            named[factor] = levels
    if not named:
        return ""
    alike = [a for a in about if all(a["cell"][factor] in levels for factor, levels in named.items())]
    words = ", ".join(f"{factor} {' or '.join(map(level, levels))}" for factor, levels in named.items())
    return f": {'all' if len(alike) == len(held) else 'some'} with {words}"
