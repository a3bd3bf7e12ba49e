"""Summarises many answers: one sentence for each verdict and pair, with the levels to which the verdict applies."""

from collections import Counter
from collections.abc import Sequence

from h123.analysis.comparisons.rows import JudgedComparison
from h123.report.text.difference import by
from h123.report.text.words import decided, level, listed, standing, verdict_word
from h123.study import metric

ENOUGH_TO_READ = 6
"""The largest number of answers that need no summary."""
_NAMED = 3


def headline_sentences(answers: Sequence[JudgedComparison]) -> list[tuple[str, str]]:
    """Return pairs of the first level's standing (such as `better`) and a sentence. A sentence reads `Latency, HTTP/3 v
    HTTP/2: faster in 16 of 24 (by 18 to 38 %): all with network medium or poor.` For each pair of levels, the most
    frequent verdict comes first. Empty if the answers are few enough to read one by one."""
    if len(answers) <= ENOUGH_TO_READ:
        return []
    firsts_by_predicate: dict[tuple[str, str, str, str, str], list[str]] = {}
    for name, a, b in dict.fromkeys((answer["metric"], answer["a"], answer["b"]) for answer in answers):
        about = [answer for answer in answers if (answer["metric"], answer["a"], answer["b"]) == (name, a, b)]
        for (word, stood), _ in Counter(
            (verdict_word(answer_row), standing(answer_row)) for answer_row in about
        ).most_common():
            # Pairs about which nothing is known share a sentence, because one for each would only add length.
            apart = "" if stood == "inconclusive" else a
            firsts_by_predicate.setdefault((stood, name, b, apart, _predicate(word, about)), []).append(level(a))
    return [
        (stood, f"{metric(name).title}, {_some(firsts)} v {level(b)}: {predicate}.")
        for (stood, name, b, _, predicate), firsts in firsts_by_predicate.items()
    ]


def _some(names: Sequence[str]) -> str:
    return listed([*names[:2], f"{len(names) - 2} others"] if len(names) > _NAMED else names, "and")


def _predicate(word: str, about: Sequence[JudgedComparison]) -> str:
    """Return the clause about the comparisons with this verdict. Comparisons that are not judged do not count as
    undecided."""
    agreeing = [a for a in about if verdict_word(a) == word]
    ratios = [a["ratio"] for a in agreeing if a["ratio"] is not None]
    span_text = by(ratios) if decided(agreeing[0]) else ""
    span = f" ({span_text})" if span_text else ""
    if len(about) == 1:
        return f"{word}{span}"
    return f"{word} in {len(agreeing)} of {len(about)}{span}{_where(agreeing, about)}"


def _where(comparisons: Sequence[JudgedComparison], about: Sequence[JudgedComparison]) -> str:
    """Name the levels to which the verdict is limited, and say whether it applies to all cells with these levels."""
    levels_by_factor: dict[str, list[str]] = {}
    for factor in about[0]["cell"]:
        levels = list(dict.fromkeys(a["cell"][factor] for a in comparisons))
        if len(levels) < len({a["cell"][factor] for a in about}):
            levels_by_factor[factor] = levels
    if not levels_by_factor:
        return ""
    alike = [a for a in about if all(a["cell"][factor] in levels for factor, levels in levels_by_factor.items())]
    words = ", ".join(f"{factor} {' or '.join(map(level, levels))}" for factor, levels in levels_by_factor.items())
    return f": {'all' if len(alike) == len(comparisons) else 'some'} with {words}"
