"""Gives advice on deciding open questions: how many more blocks to run, how long that takes, and the command."""

from collections.abc import Sequence

from h123.analysis import Remedy, headline
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.sections import Verdicts
from h123.base.units import format_span
from h123.report.text.words import cell_name, level, listed
from h123.study import metric

_NAMED = 3


def advice(verdicts: Verdicts) -> list[str]:
    """Return sentences about the comparisons of the question's metrics, beginning with what to run. In commands, DIR
    means the campaign's folder."""
    comparisons, outlook = verdicts["comparisons"], verdicts["projection"]
    projected = [c for c in headline(comparisons) if c.get("projection") and not c["withheld"]]
    within = [c for c in projected if (projection := c.get("projection")) and projection["blocks"]]
    beyond = [c for c in projected if (projection := c.get("projection")) and projection["basis"] == "beyond"]
    lines = [_blocks(within, len(projected), verdicts)] if within else []
    if beyond:
        lines.append(
            f"{_comparison_names(beyond)} would need more than {outlook['limit']} blocks: the machine or the link "
            "varies more than the levels differ."
        )
    missing = Remedy(
        failed=outlook["failed"],
        waiting=outlook["waiting"],
        damaged=outlook.get("damaged", 0),
        shard="shard" in verdicts,
    ).trials()
    return [*lines, f"{_unbroken(missing)}."] if missing else lines


def remedy(comparison: JudgedComparison) -> str:
    """Return a sentence with advice on deciding one comparison. Empty if the comparison has no projection."""
    projection = comparison.get("projection")
    if not projection:
        return ""
    blocks = projection["blocks"]
    return {
        "spread": f"About {blocks} blocks would decide it.",
        "fewest": f"{blocks} blocks are the fewest that can decide it.",
        "beyond": "It would take too many blocks to decide it.",
        "trials": "Trials are missing.",
        "machine": "Measure again when the machine is quieter.",
        "disturbed": "Run the disturbed trials again on a quieter machine.",
        "attempts": "More blocks would not help: the side that fails or sends wrong responses must be repaired.",
        "unmeasured": "More blocks would not help before the cause is mended.",
        "failures": "More blocks would not help: too many requests failed.",
        "timeless": "More blocks would not help: measure over a network that takes time, or under the wall clock.",
        "answers": "More blocks would not help: make both send the same responses.",
        "audits": "More blocks would not help: the audits say what is wrong.",
    }.get(projection["basis"], "")


def _blocks(within: Sequence[JudgedComparison], count: int, verdicts: Verdicts) -> str:
    blocks, seconds = verdicts["projection"]["blocks"], verdicts["projection"]["seconds"]
    if verdicts.get("origin"):
        command = f"measure and import {blocks} blocks"
    else:
        command = _unbroken(f"`h123 run --out DIR --blocks {blocks}`")
    time = f", +{_roughly(seconds)}" if seconds is not None else ""
    own = "For the study's own question, not for the gate: " if verdicts.get("gate") else ""
    if all(projection["basis"] == "fewest" for c in within if (projection := c.get("projection"))):
        return f"{own}{blocks} blocks are the fewest that can decide the question{time}: {command}."
    about = "about" if own else "About"
    return f"{own}{about} {blocks} blocks would decide {_what(within, count)}{time}: {command}."


def _what(within: Sequence[JudgedComparison], count: int) -> str:
    """Name what would be decided: `it`, `HTTP/3 v HTTP/2 (poor)`, `37 of the 80 undecided (19 of them by about 30
    blocks)`."""
    if count <= _NAMED:
        return "it" if count == 1 else _comparison_names(within)
    needed = sorted(projection["blocks"] or 0 for c in within if (projection := c.get("projection")))
    middle = needed[(len(needed) - 1) // 2]
    sooner = sum(blocks <= middle for blocks in needed)
    half = f" ({sooner} of them by about {middle})" if sooner < len(needed) else ""
    return f"{f'all {count}' if len(within) == count else f'{len(within)} of the {count}'} undecided{half}"


def _comparison_names(comparisons: Sequence[JudgedComparison]) -> str:
    """Name the comparisons (`HTTP/3 v HTTP/2 (lan) and HTTP/3 v HTTP/2 (poor)`), or say how many if there are many."""
    if len(comparisons) > _NAMED:
        return f"{len(comparisons)} comparisons"
    one_metric = len({c["metric"] for c in comparisons}) == 1
    names = [
        f"{level(c['a'])} v {level(c['b'])}" + (f" ({cell_name(c['cell'])})" if c["cell"] else "") for c in comparisons
    ]
    nouns = [metric(c["metric"]).noun for c in comparisons]
    phrases = names if one_metric else [f"{name} in {noun}" for name, noun in zip(names, nouns, strict=True)]
    return listed(phrases, "and")


def _roughly(seconds: float) -> str:
    """Round an estimated time: `40 s`, `3 min`, `2 h 10 min`."""
    span = format_span(seconds) if seconds < 60 else format_span(60 * round(seconds / 60)).removesuffix(" 0 s")
    return span.replace(" ", "\u00a0")


def _unbroken(text: str) -> str:
    """Keep commands in backticks on one line."""
    parts = text.split("`")
    return "`".join(part.replace(" ", "\u00a0") if number % 2 else part for number, part in enumerate(parts))
