"""Prints the answer of the commands `run`, `compare` and `analyse`, shortened to fit on one screen."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from h123.analysis import headline
from h123.analysis.provenance.gate import GatePart
from h123.analysis.sections import Verdicts
from h123.base.terminal.console import with_commands
from h123.report.brief.caveats import caveat_lines
from h123.report.brief.changes import print_changes
from h123.report.brief.findings import cause_lines, cause_title, cold_lines, comparison_lines
from h123.report.brief.table import answer_table
from h123.report.text.answer import AnswerTable, answers, cold, no_answer
from h123.report.text.constant_factors import common, common_line, without
from h123.report.text.difference import shared_confidence
from h123.report.text.outcomes import gate_lines
from h123.report.text.sections import first_lines, further
from h123.report.text.trust.completeness import count_lines
from h123.report.text.words import unbroken
from h123.study import metric
from h123.study.metrics.quantity import RequestTime

WIDTH = 100
MOST = 30
"""The largest number of lines in an answer, including those that name the report and explain how to get the details."""
_ROWS = 12
"""The largest number of rows in a table that is printed together with sentences."""
_STYLES = {"better": "blue", "worse": "yellow", "equivalent": "green", "inconclusive": "dim"}
_GATE_STYLES = {"passed": "green", "failed": "red", "undecided": "yellow"}


@dataclass
class _Group:
    """Lines of the same kind below a heading."""

    heading: str
    lines: Sequence[tuple[str, str]]
    main: int
    """The number of lines to show before any group gets its `least` lines."""
    least: int
    """The number of lines to show before any group gets all of its lines."""
    short: Sequence[str] = ()
    """Short versions of the lines, to name those that do not fit."""
    shown: int = field(default=1)


def print_table(verdicts: Verdicts, console: Console) -> None:
    if verdicts.get("changes"):
        print_changes(verdicts, console)
        return
    verdicts = without(verdicts, common(verdicts))
    found = answers(verdicts)
    for answer in found:
        console.print(answer_table(answer), width=_width(console))
    if not found:
        console.print(no_answer(verdicts))


def print_gate(verdicts: GatePart, console: Console, *, most: int | None = None) -> int:
    """Print the outcomes of the campaign's conditions, the worst first, in at most `most` lines. Return the number of
    lines, which is 0 if there are no conditions."""
    lines: list[tuple[str, str]] = []
    for number, text in enumerate(gate_lines(verdicts)):
        style = "" if number else f"bold {_GATE_STYLES[verdicts['gate']['verdict']]}"
        margin = "" if not number else "  " if text.startswith("Required, ") else "    "
        lines += [(line, style) for line in _wrapped(text, min(WIDTH, console.width), margin)]
    if most is not None and len(lines) > most:
        lines = [*lines[: most - 1], (f"    ... and {len(lines) - most + 1} more lines, in gate.json", "dim")]
    for line, style in lines:
        console.print(Text(line, style=style), soft_wrap=True)
    return len(lines)


def print_answer(
    verdicts: Verdicts, console: Console, folder: Path | None = None, *, most: int = MOST, taken: int = 0
) -> None:
    """Print the answer in at most `most` lines, of which `taken` are already used. `folder` is the campaign's
    folder."""
    if verdicts.get("changes"):
        print_changes(verdicts, console, most=most - taken)
        return
    same = common(verdicts)
    verdicts = without(verdicts, same)
    width, found = _width(console), answers(verdicts)
    used = taken + print_gate(verdicts, console, most=most // 3)
    head = [*_wrapped(verdicts["question"], width), *_wrapped(common_line(same), width)]
    counts = [line for text in count_lines(verdicts) for line in _wrapped(text, width)]
    for line in head:
        console.print(Text(line, style="bold"), soft_wrap=True)
    warnings = [line for text in first_lines(verdicts) for line in _wrapped(text, width, "  ")]
    for line in warnings:
        console.print(Text(line, style="red"), soft_wrap=True)
    for line in counts:
        console.print(Text(line, style="dim"), soft_wrap=True)
    used += len(counts) + len(head) + len(warnings) + _print_tables(found, verdicts, console)
    sure = shared_confidence(headline(verdicts["comparisons"]))
    differences, others = comparison_lines(verdicts), cold_lines(verdicts)
    groups = [
        _Group(
            f"Differences{_statistic(verdicts)}{f' ({sure} confidence)' if sure else ''}:",
            [(finding.text, _STYLES[finding.standing]) for finding in [*differences, *others]],
            len(differences),
            len(differences),
            short=[finding.short for finding in differences],
        ),
        _Group(cause_title(verdicts), [(line, "") for line in cause_lines(verdicts, width - 2)], 1, 4),
        _Group("Also found:", [(line, "") for line in further(verdicts)], 1, 2),
        _Group("Caveats:", [(line, "") for line in caveat_lines(verdicts, folder)], 1, 3),
    ]
    for group in _fitted([group for group in groups if group.lines], most - used, width):
        _print_group(group, console, width)


def _statistic(verdicts: Verdicts) -> str:
    """Return ` in the median request time` if all differences are differences in this time, otherwise an empty string.
    The heading needs this text because the causes explain the mean request time. If the table also shows cold requests,
    the heading says ` in the median time of warm requests`."""
    asked = [metric(name).of for name in dict.fromkeys(c["metric"] for c in headline(verdicts["comparisons"]))]
    medians = [isinstance(of, RequestTime) and of.share == 0.5 for of in asked]
    if not medians or not all(medians):
        return ""
    return " in the median time of warm requests" if cold(verdicts) else " in the median request time"


def _width(console: Console) -> int:
    return min(WIDTH, console.width)


def _print_tables(found: Sequence[AnswerTable], verdicts: Verdicts, console: Console) -> int:
    if not found:
        lines = _wrapped(no_answer(verdicts), _width(console))
        for line in lines:
            console.print(line, soft_wrap=True)
        return len(lines)
    count = 0
    for answer in found:
        most = max(2, _ROWS // len(found))
        with console.capture() as capture:
            console.print()
            console.print(Text(_title(answer), style="dim"), soft_wrap=True)
            console.print(answer_table(answer, most=most), width=_width(console))
            if len(answer.main) > most:
                console.print(f"... and {len(answer.main) - most} more rows. {answer.tally}", width=_width(console))
        text = capture.get()
        console.file.write(text)
        count += text.count("\n")
    return count


def _title(answer: AnswerTable) -> str:
    of = f" of {answer.workload}" if answer.workload else ""
    marked = any(row.best.levels for row in answer.rows)
    legend = f"; * is {answer.metric.words.best}" if marked else ""
    return f"{answer.metric.title}{of}, median over the trials{legend}"


def _fitted(groups: Sequence[_Group], room: int, width: int) -> Sequence[_Group]:
    """Set the number of lines that each group shows, and return the groups. Every group shows at least one line. While
    there is room, the groups get their `main` lines, then their `least` lines, then the rest, in the order of the
    groups."""
    room -= sum(1 + bool(group.heading) for group in groups)  # an empty line and the heading
    for goal in (lambda group: group.main, lambda group: group.least, lambda group: len(group.lines)):
        for group in groups:
            for count in range(group.shown + 1, min(goal(group), len(group.lines)) + 1):
                before, group.shown = group.shown, count
                if _height(groups, width) > room:
                    group.shown = before
    return groups


def _height(groups: Sequence[_Group], width: int) -> int:
    return sum(len(lines) for group in groups for lines, _ in _lines(group, width))


def _lines(group: _Group, width: int) -> list[tuple[list[str], str]]:
    """Return the physical lines and styles of everything that is shown."""
    shown = [(_wrapped(text, width, "  "), style) for text, style in group.lines[: group.shown]]
    return [*shown, ([_rest(group, width)], "dim")] if group.shown < len(group.lines) else shown


def _rest(group: _Group, width: int) -> str:
    """Describe in one line what does not fit: ` and 3 more (--details): HTTP/3 v HTTP/2 on poor, slower; ...`."""
    line = f"  and {len(group.lines) - group.shown} more (--details)"
    lead = ": "
    for short in group.short[group.shown :]:
        if not short or len(line) + len(lead) + len(short) > width - len("; ..."):
            return f"{line}; ..." if lead == "; " else line
        line, lead = f"{line}{lead}{short}", "; "
    return line


def _print_group(group: _Group, console: Console, width: int) -> None:
    console.print()
    if group.heading:
        console.print(Text(group.heading, style="bold"), soft_wrap=True)
    for lines, style in _lines(group, width):
        for line in lines:
            console.print(_styled(line, style), soft_wrap=True)


def _styled(line: str, style: str) -> Text:
    """Style a line, and dim a code in brackets at its end."""
    text = Text(line, style=style)
    if code := re.search(r"\[[a-z-]+\]$", line):
        text.stylize("dim", *code.span())
    return text


def _wrapped(text: str, width: int, margin: str = "") -> list[str]:
    lines = textwrap.wrap(
        unbroken(text),
        width,
        initial_indent=margin,
        subsequent_indent=margin + "  " * bool(margin),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [with_commands(line.replace("\u00a0", " ")).plain for line in lines]
