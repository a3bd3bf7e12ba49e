"""Writes the answer of `h123 tune`, at most 15 lines, for an engineer to paste into a ticket."""

import math
from collections.abc import Mapping, Sequence

from h123.base.relative import factor, in_percent, percentage, span
from h123.base.units import counted, format_alike
from h123.study import METRICS, QUEUE, TRAFFIC
from h123.tuning.document import TuningAnswer, TuningClaim
from h123.tuning.drafting import COSTS, changed

LINES = 15
"""The number of lines that the answer may take."""
_LAST = 3
"""The number of lines below the answer: certainty, command and report."""
_DROPPED, _REASON = 2, 160
"""The largest number of dropped candidates that are named, and of characters of a reason."""


def answer_lines(answer: TuningAnswer, *, details: bool = False) -> list[str]:
    """Return the answer. With `details`, leave nothing out."""
    margin = f"{percentage(answer['margin'])} %"
    lines, others = [answer["question"]], dropped_lines(answer["dropped"], most=None if details else _DROPPED)
    if answer["chosen"] is None:
        lines.append("No setting but the default works.")
    else:
        lines += _result(answer, margin)
        others = [*_costs(answer, margin, details=details), *_effects(answer), *others]
    room = LINES - _LAST - len(lines)
    if len(others) > room and not details:
        others = [*others[: room - 1], f"... and {len(others) - room + 1} more lines (--details)"]
    return [*lines, *others]


def _result(answer: TuningAnswer, margin: str) -> list[str]:
    chosen, default = answer["chosen"] or {}, answer["default"]
    better = [claim for claim in answer["claims"] if claim["verdict"] == "better"]
    settings = settings_words(changed(chosen, default))
    if not better:
        found = {claim["verdict"] for claim in answer["claims"]}
        first = {
            frozenset({"same"}): f"No setting makes a difference above the margin of {margin}.",
            frozenset({"worse"}): "No setting is better than the default.",
        }.get(frozenset(found), f"No setting is shown to be better than the default by more than {margin}.")
        lines = [first, f"The {'best candidate in training' if answer['rounds'] else 'other setting'} was {settings}:"]
    else:
        lines = [
            f"Set {settings} (default: {settings_words({name: default[name] for name in changed(chosen, default)})}):"
        ]
    return lines + [f"  {claim_words(claim, margin)}" for claim in answer["claims"]]


def _costs(answer: TuningAnswer, margin: str, *, details: bool) -> list[str]:
    lines, groups = list[str](), dict[tuple[str, str], list[TuningClaim]]()
    for claim in answer["costs"]:
        groups.setdefault((claim["what"], claim["metric"]), []).append(claim)
    asked = {claim["what"] for claim in answer["claims"]}
    for (what, metric), claims in groups.items():
        if metric in COSTS and (what not in asked or not _notable(claims)) and not details:
            continue
        if {claim["verdict"] for claim in claims} == {"same"}:
            lines.append(f"{_title(what, metric)}: no difference above {margin}.")
        else:
            lines += [f"{_title(what, metric)}: {claim_words(claim, margin)}" for claim in claims]
    return lines


def _notable(claims: Sequence[TuningClaim]) -> bool:
    return any(claim["verdict"] in ("better", "worse") for claim in claims)


def _title(what: str, metric: str) -> str:
    return {QUEUE.name: "Other packets on the link wait in the queue", TRAFFIC.name: "Bytes sent"}.get(metric, what)


def _effects(answer: TuningAnswer) -> list[str]:
    effects = sorted(answer["effects"], key=lambda each: -abs(math.log(each["ratio"])))
    if not effects:
        return []
    words = [f"{each['knob']}={each['value']} {_signed(each['ratio'])}" for each in effects]
    return [f"Mean effect of each knob in training (exploratory): {', '.join(words)}."]


def _signed(ratio: float) -> str:
    if not in_percent(ratio):
        return f"×{factor(ratio)}"
    share = percentage(abs(ratio - 1))
    return f"{'−' if ratio < 1 else '+'}{share} %"


def dropped_lines(dropped: Mapping[str, str], most: int | None) -> list[str]:
    """Return lines that name at most `most` of the candidates that did not work."""
    if not dropped:
        return []
    named = list(dropped.items())[:most]
    lines = [f"Dropped: {settings}: {_short(why) if most else why}" for settings, why in named]
    return lines + ([f"Dropped: {len(dropped) - len(named)} more (answer.json)"] if len(named) < len(dropped) else [])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _REASON else f"{line[: _REASON - 4]} ..."


def claim_words(claim: TuningClaim, margin: str) -> str:
    """Describe a claim: `On cellular: 38 % faster (33 to 42 %).`"""
    where = f"On {', '.join(claim['cell'].values())}: " if claim["cell"] else ""
    match claim["verdict"]:
        case "withheld":
            return f"{where}not judged: {claim['why']}."
        case "same":
            return f"{where}no difference above {margin}."
        case "open":
            blocks = claim.get("needed")  # absent from answers of earlier versions
            more = (
                f"about {blocks} blocks would decide (--blocks {blocks})"
                if blocks
                else "no practical number of blocks would decide"
            )
            return f"{where}cannot tell: {_between(claim)}; {more}."
    if claim["metric"] == QUEUE.name and claim["chosen"] is not None and claim["default"] is not None:
        longer, (new, old) = claim["chosen"] > claim["default"], (claim["chosen"], claim["default"])
        row = [abs(new - old), new, old]
        difference, new_text, old_text = (format_alike(value, row, QUEUE.unit) for value in row)
        return f"{where}{difference} {'longer' if longer else 'shorter'} ({new_text} instead of {old_text})."
    return f"{where}{_difference(claim)}."


def _difference(claim: TuningClaim) -> str:
    ratio, low, high = claim["ratio"], claim["low"], claim["high"]
    words = METRICS[claim["metric"]].words
    if ratio is None:
        return f"{words.better if claim['verdict'] == 'better' else words.worse}, because the other side failed"
    word = words.less if ratio < 1 else words.more
    if not in_percent(ratio):
        times = max(ratio, 1 / ratio)
        bounded = sorted(end if ratio > 1 else 1 / end for end in (low, high) if end)
        interval = f" ({span(*map(factor, bounded))} times)" if len(bounded) == 2 else ""
        if words.less == "faster":
            return f"{factor(times)} times as {'fast' if ratio < 1 else 'long'}{interval}"
        return f"{factor(times)} times {word}{interval}"
    ends = sorted(abs(1 - end) for end in (low, high) if end is not None)
    interval = f" ({span(*map(percentage, ends))} %)" if len(ends) == 2 else ""
    return f"{percentage(abs(1 - ratio))} % {word}{interval}"


def _between(claim: TuningClaim) -> str:
    low, high = claim["low"], claim["high"]
    if low is None or high is None or not (in_percent(low) and in_percent(high)):
        return "the blocks differ too much"
    words = METRICS[claim["metric"]].words
    ends = [f"{percentage(abs(1 - end))} % {words.less if end < 1 else words.more}" for end in (low, high)]
    return f"between {ends[0]} and {ends[1]}"


def settings_words(values: Mapping[str, str]) -> str:
    """List settings: `A=1, B=on`."""
    return ", ".join(f"{name}={value or '(nothing)'}" for name, value in values.items()) or "the default"


def certainty(answer: TuningAnswer) -> str:
    """Describe what the intervals are based on: the confidence and the number of blocks."""
    sure = [claim["confidence"] for claim in answer["claims"] if claim["confidence"] is not None]
    confidence = f"{100 * min(sure):.3g} % confidence; " if sure else ""
    over = f", Holm's correction over {len(answer['claims'])} networks" if len(answer["claims"]) > 1 else ""
    return f"Ranges: {confidence}{counted(answer['blocks'], 'block')} that no round used{over}."
