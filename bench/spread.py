"""How much the ratios of published campaigns vary from block to block: docs/results/spread.csv, for `h123 plan`.

    PYTHONPATH=src .venv/bin/python bench/spread.py [FILE]

Of each report in docs/results, whose folder has the name of its study: the comparisons by each metric over each
kind of trial (network, clock, method, size, users, requests), and the median of the standard deviations that are behind
their intervals. The A/A pairs are left out: two unlike levels do not vary together as much as a level and itself.
"""

import csv
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from h123.analysis.comparisons.comparison import other_cells  # noqa: E402
from h123.analysis.statistics.precision import spread  # noqa: E402
from h123.analysis.statistics.spreads import SPREADS, SpreadTrial, Varied, columns  # noqa: E402
from h123.report.text.words import level  # noqa: E402
from h123.study import METRICS, Plan, Study, find_study, load_study, make_plan  # noqa: E402

ROUNDING = 0.0005
"""Of the confidence, which is printed with three digits."""
EARLIER_TITLES = {"Recovery from a move": "recovery"}
"""Of metrics, in reports of an earlier version."""
_HEADS = {"metric", "where", "ratio of", "interval", "confidence", "blocks"}


class Rows(HTMLParser):
    """The cells' texts of every row of every table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        """A row, or a cell, begins."""
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        """A cell may end."""
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        """Text of a cell, among other text."""
        if self._inside:
            self.rows[-1][-1] += data


def main(arguments: list[str]) -> int:
    """Write the file."""
    found = [row for report in sorted(SPREADS.parent.glob("*/report.html")) for row in varied(report)]
    with (Path(arguments[0]) if arguments else SPREADS).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns())
        writer.writerows(row.written() for row in found)
    return 0


def varied(report: Path) -> list[Varied]:
    """What one report says."""
    text, tables, campaign = report.read_text(encoding="utf-8"), Rows(), report.parent.name
    tables.feed(re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL))
    plan = make_plan(_asked(campaign, text))
    trials = {frozenset(map(level, cell.values())): _trial(plan, cell) for cell in other_cells(plan)}
    names = EARLIER_TITLES | {metric.title: name for name, metric in METRICS.items()}
    spreads: dict[tuple[SpreadTrial, str], list[float]] = defaultdict(list)
    blocks = 0
    for row in _comparisons(tables.rows):
        (low, high), blocks = map(float, row["interval"].split(" – ")), int(row["blocks"])
        level_of_it = 1 - float(row["confidence"].removesuffix(" %")) / 100 + ROUNDING
        where = trials[frozenset(row["where"].split(", "))]
        spreads[where, names[row["metric"]]].append(spread(low, high, blocks, level_of_it))
    return [
        Varied(campaign, trial, name, blocks, len(found), float(f"{statistics.median(found):.3g}"))
        for (trial, name), found in spreads.items()
    ]


def _asked(campaign: str, report: str) -> Study:
    """The study as the command asked for it that the report says will repeat the campaign."""
    repeat = re.search(r"h123 run study\.yaml[^<]*", report)
    asked = repeat[0] if repeat else ""
    scale = re.search(r"--scale ([0-9.]*[0-9])", asked)
    study = load_study(find_study(campaign)).scaled(float(scale[1]) if scale else 1.0)
    return study.settled(clock="virtual" if "--clock virtual" in asked else None)


def _comparisons(rows: list[list[str]]) -> Iterator[dict[str, str]]:
    """The rows of the tables of comparisons that have an interval and are not of a level with itself."""
    heads: list[str] = []
    for cells in rows:
        texts = [" ".join(cell.split()) for cell in cells]
        if set(texts) >= _HEADS:
            heads = texts
        elif len(texts) > 1 and len(texts) != len(heads):
            heads = []  # another table
        elif len(texts) == len(heads):
            row = dict(zip(heads, texts, strict=True))
            first, second = row["ratio of"].split(" / ")
            if " – " in row["interval"] and first != second:
                yield row


def _trial(plan: Plan, cell: dict[str, str]) -> SpreadTrial:
    first = next(iter(plan.study.factors[plan.study.compare.factor]))
    return SpreadTrial.of(plan.study.parameters({**cell, plan.study.compare.factor: first}))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
