"""Draws and tabulates the atlas, docs/results/atlas.md, for `make docs`, from published results and
from atlas.csv.xz (bench/atlas_saved.py).

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
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from h123.analysis.results.publication import published_verdicts  # noqa: E402
from h123.documents.result_file import results  # noqa: E402

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
    "cellular": "cellular",
    "medium": "medium",
    "starlink": "Starlink",
    "poor": "poor",
    "europe-us": "overseas",
    "satellite": "satellite",
    "bloated": "full queue",
    "extreme-loss": "12 % loss",
}
"""The headings of the columns."""
PAIRS = {"h3/h2": "HTTP/3 / HTTP/2", "h2/h1": "HTTP/2 / HTTP/1.1"}
VERDICTS = ("faster", "equal", "slower", "undecided")
_WORDS = {"equivalent": "equal", "inconclusive": "undecided"}
_OPPOSITE = {"faster": "slower", "slower": "faster"}
_COLOURS = dict(zip(VERDICTS, ("better", "equivalent", "worse", "inconclusive"), strict=True))
_SHAPES = {
    "faster": '<circle cx="{x}" cy="{y}" r="3.4" fill="{c}"/>',
    "equal": '<path d="M{x} {y}m0-4l4 4l-4 4l-4-4z" fill="{c}"/>',
    "slower": '<path d="M{x} {y}m-3-3h6v6h-6z" fill="{c}"/>',
    "undecided": '<circle cx="{x}" cy="{y}" r="2.9" fill="none" stroke="{c}"/>',
}
"""No verdict is shown by colour only."""
_LEFT, _WIDTH, _ROW, _TOP, _GAP = 80, 806, 13, 62, 26
_SMALLEST, _LARGEST = 0.25, 4.0
_PAGE_COLOURS = re.compile(r":root \{\n  color-scheme.*?\n\* \{", re.DOTALL)

Row = dict[str, str]


@dataclass(frozen=True)
class Source:
    """The comparisons of a published result that belong to a workload of the atlas."""

    result: str
    page: str
    workload: str
    metric: str
    server: str
    select: dict[str, str] = field(default_factory=dict)
    """The levels of other factors than the network."""
    network: str = ""
    """Of studies in which it does not vary."""
    networks: tuple[str, ...] = tuple(NETWORKS)


_WITHOUT_HOME = ("cellular", "medium", "poor", "satellite")
SOURCES = (
    Source("page-loads", "page-loads.md", "page", "page_complete", "envoy", {"site": "small"}),
    Source(
        "head-of-line-pages",
        "head-of-line.md",
        "page",
        "page_complete",
        "go",
        {"site": "small", "losses": "own"},
        "cellular",
    ),
    Source("queues", "queues.md", "page", "page_complete", "quinn", {"load": "page"}),
    Source("handshakes", "handshakes.md", "first", "cold_latency", "go", {"certificate": "3kB"}),
    Source("ladder-small", "ladder.md", "first", "cold_latency", "go", {"size": "1kB"}, "", ("medium", "poor")),
    Source("ladder-small", "ladder.md", "api", "latency", "go", {"size": "1kB"}, "", _WITHOUT_HOME),
    Source("headers", "headers.md", "api", "latency", "go", {"headers": "none", "stack": "go"}, "home"),
    Source("headers", "headers.md", "api", "latency", "envoy", {"headers": "none", "stack": "nghttp3-envoy"}, "home"),
    Source(
        "headers", "headers.md", "api", "latency", "nginx 1.26", {"headers": "none", "stack": "nghttp3-nginx"}, "home"
    ),
    Source("quick-virtual", "quick.md", "download", "latency", "go", {}, "", ("medium", "poor")),
    Source("rest-matched", "rest-api.md", "download", "latency", "go, matched", {"method": "GET"}),
    Source("loss-one", "loss.md", "download", "latency", "nginx", {"server": "nginx-sid"}),
    Source("loss-one", "loss.md", "download", "latency", "nginx 1.26", {"server": "nginx"}),
    Source("rest-matched", "rest-api.md", "upload", "latency", "go, matched", {"method": "POST"}),
)


@cache
def rows() -> list[Row]:
    """Return a row for each comparison, with the page that describes its campaign."""
    saved = csv.DictReader(lzma.decompress(DATA.read_bytes()).decode().splitlines()) if DATA.is_file() else ()
    verdicts = {one.name: published_verdicts(one)[0] for one in results()}
    found = [row for source in SOURCES for row in _rows(source, verdicts[source.result]["comparisons"])]
    return [*(dict(row, page="") for row in saved), *found]


def _rows(source: Source, comparisons: list[Row]) -> Iterator[Row]:
    for one in comparisons:
        cell = dict(one["cell"])
        network = source.network or cell.pop("network", "")
        first, second = (one[side].removesuffix("-full") for side in "ab")
        here = one["metric"] == source.metric and not one["twin"] and network in source.networks
        if not here or source.select.items() - cell.items() or one["ratio"] is None:
            continue
        numbers = [one["a_median"], one["b_median"], one["ratio"], one["low"], one["high"]]
        verdict = _WORDS.get(one["verdict"], one["verdict"])
        if (first, second) == ("h1", "h2"):
            first, second, verdict = second, first, _OPPOSITE.get(verdict, verdict)
            numbers = [numbers[1], numbers[0], 1 / numbers[2], 1 / numbers[4], 1 / numbers[3]]
        if one["a"].endswith("-full") != one["b"].endswith("-full") or f"{first}/{second}" not in PAIRS:
            continue
        keys = ("first", "second", "ratio", "low", "high")
        scales = (1000, 1000, 1, 1, 1)
        values = {key: f"{scale * number:.4g}" for key, scale, number in zip(keys, scales, numbers, strict=True)}
        named = {"workload": source.workload, "network": network, "server": source.server, "page": source.page}
        yield named | {"versions": f"{first}/{second}", "verdict": verdict} | values


def counts(workload: str) -> str:
    """Return what the page's text says of a workload: how many comparisons have each verdict."""
    return "; ".join(filter(None, (_counts(workload, pair) for pair in PAIRS)))


def _counts(workload: str, pair: str) -> str:
    here = [row["verdict"] for row in rows() if (row["workload"], row["versions"]) == (workload, pair)]
    said = ", ".join(f"{verdict} in {here.count(verdict)}" for verdict in VERDICTS if verdict in here)
    return f"{pair.partition('/')[0].replace('h', 'HTTP/')} {said} of {len(here)}" if here else ""


def table() -> Iterator[str]:
    """Yield the lines of the table: a row for each workload, network and server."""
    yield f"| workload | network | server | HTTP/1.1 | HTTP/2 | HTTP/3 | {' | '.join(PAIRS.values())} | campaign |"
    yield "|---|---|---|---|---|---|---|---|---|"
    places = {(row["workload"], row["network"], row["server"], row["page"]): None for row in rows()}
    order = [*WORKLOADS], [*NETWORKS]
    for place in sorted(places, key=lambda key: (order[0].index(key[0]), order[1].index(key[1]), key[2:])):
        workload, network, server, page = place
        here = {
            row["versions"]: row
            for row in rows()
            if (row["workload"], row["network"], row["server"], row["page"]) == place
        }
        h2, h3 = here.get("h2/h1"), here.get("h3/h2")
        times = [h2 and h2["second"], h2["first"] if h2 else h3 and h3["second"], h3 and h3["first"]]
        said = [_said(here[pair]) if pair in here else "" for pair in PAIRS]
        link = f"[{page.removesuffix('.md')}]({page})" if page else "here"
        cells = [WORKLOADS[workload], NETWORKS[network], server, *map(_time, times), *said, link]
        yield f"| {' | '.join(cells)} |"


def _time(ms: str | None) -> str:
    return "" if ms is None else f"{float(ms):.3g} ms" if float(ms) < 1000 else f"{float(ms) / 1000:.3g} s"


def _said(row: Row) -> str:
    ratio, low, high = (f"{float(row[key]):.2f}" for key in ("ratio", "low", "high"))
    return f"{ratio}, {row['verdict']}" if low == high else f"{ratio} ({low} to {high}), {row['verdict']}"


def figure(pair: str) -> str:
    """Return the picture of a pair: small multiples of the ratios, with their intervals and verdicts."""
    listed = [row for row in rows() if row["versions"] == pair]
    columns = [network for network in NETWORKS if any(row["network"] == network for row in listed)]
    wide = min(96, _WIDTH / len(columns))
    parts = [*_key(pair), *(_text(_LEFT + wide * (n + 0.5), 56, NETWORKS[name]) for n, name in enumerate(columns))]
    words, top = [], _TOP + 18
    for workload, title in WORKLOADS.items():
        here = [row for name in columns for row in listed if (row["workload"], row["network"]) == (workload, name)]
        if not here:
            continue
        servers = sorted({row["server"] for row in here})
        high = _ROW * len(servers)
        parts.append(_text(4, top - 6, title, "start", "bold"))
        parts += [_text(_LEFT - 6, top + _ROW * k + 10, name, "end") for k, name in enumerate(servers)]
        for n, network in enumerate(columns):
            these = [row for row in here if row["network"] == network]
            left = _LEFT + wide * n
            parts += [_ground(left, wide, top, high)] if these else []
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
        yield _SHAPES[verdict].format(x=10 + 74 * n, y=32, c=f"var(--{_COLOURS[verdict]})")
        yield _text(20 + 74 * n, 36, verdict, "start")
    yield _text(316, 36, f"panels: {_SMALLEST:g} to {_LARGEST:g}, logarithmic; lines: 95 % intervals", "start")


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
        held = min(max(float(row[key]), _SMALLEST), _LARGEST)
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
