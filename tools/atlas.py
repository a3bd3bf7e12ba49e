"""Draws and tabulates the atlas, docs/results/atlas.md, for `make docs`, from atlas.csv.xz (bench/atlas_saved.py).

    PYTHONPATH=src .venv/bin/python tools/atlas.py target/results

Writes atlas-h3.svg and atlas-h2.svg: for each workload and network a panel, with a row for each server. `table` returns
the page's table, and `counts` the numbers that the page's text gives (a test compares them).
"""

import csv
import lzma
import math
import re
import sys
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import product
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs/results/atlas.csv.xz"
WORKLOADS = {
    "page": "Page loads",
    "first": "First visits",
    "api": "API calls",
    "download": "Downloads",
    "upload": "Uploads",
}
NETWORKS = {
    "us-us": "region",
    "home": "home",
    "dsl": "DSL",
    "wifi-contended": "Wi-Fi",
    "lte": "LTE",
    "starlink": "Starlink",
    "poor": "poor",
    "europe-us": "overseas",
}
"""The headings of the columns."""
PAIRS = {"h3/h2": "HTTP/3 / HTTP/2", "h2/h1": "HTTP/2 / HTTP/1.1"}
VERDICTS = ("faster", "equal", "slower", "undecided", "not judged")
"""The last one is for requests that fail too often. It has no ratio."""
_COLOURS = dict(zip(VERDICTS, ("better", "equivalent", "worse", "inconclusive", "worse"), strict=True))
_SHAPES = {
    "faster": '<circle cx="{x}" cy="{y}" r="3.4" fill="{c}"/>',
    "equal": '<path d="M{x} {y}m0-4l4 4l-4 4l-4-4z" fill="{c}"/>',
    "slower": '<path d="M{x} {y}m-3-3h6v6h-6z" fill="{c}"/>',
    "undecided": '<circle cx="{x}" cy="{y}" r="2.9" fill="none" stroke="{c}"/>',
    "not judged": '<path d="M{x} {y}m-3-3l6 6m0-6l-6 6" stroke="{c}"/>',
}
"""No verdict is shown by colour only."""
_LEFT, _WIDTH, _ROW, _TOP, _GAP = 80, 806, 13, 62, 26
_SMALLEST, _LARGEST = 0.25, 4.0
_PAGE_COLOURS = re.compile(r":root \{\n  color-scheme.*?\n\* \{", re.DOTALL)

Row = dict[str, str]


@cache
def rows() -> list[Row]:
    """Return a row for each comparison."""
    return list(csv.DictReader(lzma.decompress(DATA.read_bytes()).decode().splitlines()))


def counts(workload: str) -> str:
    """Return what the page's text says of a workload: how many comparisons have each verdict."""
    return "; ".join(filter(None, (_counts(workload, pair) for pair in PAIRS)))


def _counts(workload: str, pair: str) -> str:
    here = [row["verdict"] for row in rows() if (row["workload"], row["versions"]) == (workload, pair)]
    said = ", ".join(f"{verdict} in {here.count(verdict)}" for verdict in VERDICTS if verdict in here)
    return f"{pair.partition('/')[0].replace('h', 'HTTP/')} {said} of {len(here)}" if here else ""


def table() -> Iterator[str]:
    """Yield the lines of the table: a row for each workload and network."""
    yield f"| workload | network | {' | '.join(PAIRS.values())} |"
    yield "|---|---|---|---|"
    for (workload, title), (network, name) in product(WORKLOADS.items(), NETWORKS.items()):
        here = [row for row in rows() if (row["workload"], row["network"]) == (workload, network)]
        cells = [_servers([row for row in here if row["versions"] == pair]) for pair in PAIRS]
        yield f"| {' | '.join([title, name, *cells])} |"


def _servers(here: list[Row]) -> str:
    """Return the median ratio of the servers, the smallest and the largest one, and how many have each verdict."""
    ratios, verdicts = [float(row["ratio"]) for row in here if row["ratio"]], [row["verdict"] for row in here]
    said = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in verdicts)
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}): {said}"


def _said(row: Row) -> str:
    if not row["ratio"]:
        return row["verdict"]
    ratio, low, high = (f"{float(row[key]):.2f}" for key in ("ratio", "low", "high"))
    return f"{ratio}, {row['verdict']}" if low == high else f"{ratio} ({low} to {high}), {row['verdict']}"


def figure(pair: str) -> str:
    """Return the picture of a pair: small multiples of the ratios, with their intervals and verdicts."""
    listed = [row for row in rows() if row["versions"] == pair]
    columns = [*NETWORKS]
    wide = min(96, _WIDTH / len(columns))
    parts = [*_key(pair), *(_text(_LEFT + wide * (n + 0.5), 56, NETWORKS[name]) for n, name in enumerate(columns))]
    words, top = [], _TOP + 18
    for workload, title in WORKLOADS.items():
        here = [row for name in columns for row in listed if (row["workload"], row["network"]) == (workload, name)]
        servers = sorted({row["server"] for row in here})
        high = _ROW * len(servers)
        parts.append(_text(4, top - 6, title, "start", "bold"))
        parts += [_text(_LEFT - 6, top + _ROW * k + 10, name, "end") for k, name in enumerate(servers)]
        for n, network in enumerate(columns):
            these = [row for row in here if row["network"] == network]
            left = _LEFT + wide * n
            parts.append(_ground(left, wide, top, high))
            parts += [_mark(left, wide, top + _ROW * servers.index(row["server"]), row) for row in these]
        said = "; ".join(f"{NETWORKS[row['network']]}, {row['server']} {_said(row)}" for row in here)
        words.append(f"{title}: {said}.")
        top += high + _GAP
    label = escape(f"{PAIRS[pair]}, the ratio of times, below 1: faster. {' '.join(words)}")
    width, height = round(_LEFT + wide * len(columns) + 8), top - 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" data-words="label" font-size="11px" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"><style>{_style()}</style>'
        f'<rect width="{width}" height="{height}" fill="var(--paper)"/>{"".join(parts)}</svg>\n'
    )


def _style() -> str:
    """Return the colours of a report's page, for light and for dark screens."""
    found = _PAGE_COLOURS.search((ROOT / "src/h123/report/page/page.css").read_text("utf-8"))
    assert found
    font = 'Helvetica, Arial, "Liberation Sans", Roboto, sans-serif'
    return f"{found[0].removesuffix('* {')}text {{ font-family: {font}; }}"


def _key(pair: str) -> Iterator[str]:
    named = PAIRS[pair].partition(" / ")[0]
    yield _text(4, 16, f"{PAIRS[pair]}: ratio of times (left of the line: {named} is faster)", "start", "bold")
    for n, verdict in enumerate(VERDICTS):
        yield _SHAPES[verdict].format(x=10 + 80 * n, y=32, c=f"var(--{_COLOURS[verdict]})")
        yield _text(20 + 80 * n, 36, verdict, "start")
    yield _text(424, 36, f"panels: {_SMALLEST:g} to {_LARGEST:g}, logarithmic; lines: 95 % intervals", "start")


def _text(x: float, y: float, text: str, anchor: str = "middle", weight: str = "normal") -> str:
    ink = "ink" if weight == "bold" else "muted"
    style = f'text-anchor="{anchor}" font-weight="{weight}" fill="var(--{ink})"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(text)}</text>'


def _ground(left: float, wide: float, top: float, high: float) -> str:
    box = f'x="{left + 2:g}" y="{top:g}" width="{wide - 4:g}" height="{high + 2}"'
    line = f'<path d="M{left + wide / 2:g} {top:g}v{high + 2}" stroke="var(--muted)"/>'
    return f'<rect {box} fill="var(--band)"/>{line}'


def _mark(left: float, wide: float, top: float, row: Row) -> str:
    def x(key: str) -> str:
        held = min(max(float(row[key] or 1), _SMALLEST), _LARGEST)
        return f"{left + wide / 2 + (wide / 2 - 7) * math.log(held) / math.log(_LARGEST):.1f}"

    y, colour = f"{top + _ROW / 2 + 1:g}", f"var(--{_COLOURS[row['verdict']]})"
    title = f"{WORKLOADS[row['workload']]}, {NETWORKS[row['network']]}, {row['server']}: {_said(row)}"
    line = f'<path d="M{x("low")} {y}H{x("high")}" stroke="{colour}"/>'
    return f"<g><title>{escape(title)}</title>{line}{_SHAPES[row['verdict']].format(x=x('ratio'), y=y, c=colour)}</g>"


def main(folder: Path) -> None:
    """Write both pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for pair in PAIRS:
        (folder / f"atlas-{pair.partition('/')[0]}.svg").write_text(figure(pair), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
