"""The answer in a terminal of 80 columns: sentences first, then the tables, then what to distrust."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from h123.report import claims, published
from h123.report.gist import ENOUGH_TO_READ, gist
from h123.report.parts import terminal_lines as parts_lines
from h123.report.words import cell_name, level, metric, percent, ratio, sentence, verdict_word

ABREAST = 3
"""Pairs that a table of 80 columns has room for."""
_STYLES = {"faster": "blue", "slower": "yellow", "equivalent": "green", "inconclusive": "dim"}


def print_summary(verdicts: Mapping[str, Any], console: Console) -> None:
    """Print verdicts.json for a person."""
    comparisons = [c for c in verdicts["comparisons"] if not c["twin"]]
    console.print(Text(verdicts["question"], style="bold"))
    answers = headline(comparisons)
    for verdict, said in gist(answers):
        console.print(Text(f"  {said}", style=_STYLES[verdict]))
    for comparison in answers if len(answers) <= ENOUGH_TO_READ else ():
        console.print(Text(f"  {sentence(comparison, verdicts['margin'])}", style=_STYLES[comparison["verdict"]]))
        if comparison["note"]:
            console.print(Text(f"    {comparison['note']}", style="dim"))
    for line in parts_lines(verdicts["parts"], answers) if verdicts["parts"] else ():
        console.print(line, highlight=False, markup=False)
    for cell, members in groupby(comparisons, key=lambda c: c["cell"]):
        console.print(Text(f"\n{cell_name(cell)}".rstrip(), style="bold"))
        for table in _tables(list(members)):
            console.print(table)
    console.print("[dim]?: cannot tell yet. Ratios are first / second; intervals and p values are in the report.[/]\n")
    for line in trust(verdicts):
        console.print(line, highlight=False)
    more = published.terminal_lines(verdicts["as_published"]) if verdicts["as_published"] else []
    for line in more + claims.terminal_lines(verdicts["claims"]):
        console.print(line, highlight=False, markup=False)


def headline(comparisons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The comparisons that answer the study's question: those of the first family that it declares."""
    if not comparisons:
        return []
    first = comparisons[0]["family"].partition("/")[0]
    return [c for c in comparisons if c["family"].partition("/")[0] == first]


def trust(verdicts: Mapping[str, Any]) -> list[str]:
    """What one should know before believing the answer: completeness, A/A, audits."""
    trials, blocks, twins = verdicts["trials"], verdicts["blocks"], verdicts["twins"]
    origin = verdicts.get("origin")
    complete = f"{blocks['complete']} of {blocks['planned']} blocks complete"
    if origin and not origin["blocks"]:
        complete = "in no blocks"
    lines = [f"{trials['valid']} of {trials['planned']} trials valid, {complete}"]
    if trials["invalid"]:
        lines[0] += f"; {trials['invalid']} invalid attempts kept and repeated"
    if twins["comparisons"]:
        lines.append(
            f"A/A twin: {twins['rejected']} of {twins['comparisons']} comparisons of a treatment with itself differ "
            f"({percent(twins['rate'])}; {percent(twins['expected'])} expected by chance)"
        )
    lines += origin["costs"] if origin else []
    failed = [row for row in verdicts["audit_summary"] if row["failed"]]
    for row in failed:
        lines.append(f"audit failed: {row['audit']} in {row['failed']} of {row['checked']}: {row['meaning']}")
    if not failed:
        checked = sum(bool(row["checked"]) for row in verdicts["audit_summary"])
        silent = len(verdicts["audit_summary"]) - checked
        lines.append(f"all {checked} audits passed" + (f"; {silent} had nothing to check" if silent else ""))
    return lines


def _tables(comparisons: list[dict[str, Any]]) -> Iterator[Table]:
    """A row for each metric, a column for each pair; of many pairs so many in a table as stand abreast."""
    pairs = list(dict.fromkeys((c["a"], c["b"]) for c in comparisons))
    for first in range(0, len(pairs), ABREAST):
        shown = pairs[first : first + ABREAST]
        yield _table([c for c in comparisons if (c["a"], c["b"]) in shown], shown)


def _table(comparisons: list[dict[str, Any]], pairs: list[tuple[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column("")
    for a, b in pairs:
        table.add_column(f"{level(a)} / {level(b)}")
    for name in dict.fromkeys(c["metric"] for c in comparisons):
        found = {(c["a"], c["b"]): c for c in comparisons if c["metric"] == name}
        cells = [_verdict(found[pair]) if pair in found else Text("") for pair in pairs]
        table.add_row(metric(name).title, *cells)
    return table


def _verdict(c: Mapping[str, Any]) -> Text:
    word = "?" if c["verdict"] == "inconclusive" else verdict_word(c)
    return Text(f"{ratio(c['ratio'], c['low'], c['high']):>5} {word}", style=_STYLES[c["verdict"]])
