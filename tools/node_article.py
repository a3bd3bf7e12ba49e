"""Writes the entries of docs/results/node-article.md: the claims of the Node.js article with their verdicts.

`make docs` inserts them into the site's page (tools/reference.py). Most verdicts of campaigns come from the published
results. Verdicts of older campaigns come from what `h123 claims --campaign` printed. Both are in
docs/results/data.tar.xz. All other verdicts follow from arithmetic, or from documents that the claim names.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from h123.analysis import decide
from h123.analysis.claims.rows import ClaimRow
from h123.analysis.results.decided import decide_by_results
from h123.base.terminal.markdown import table
from h123.documents.result_archive import members
from h123.documents.result_file import results
from h123.report.text.claims import measured_lines
from h123.study import list_claims, load_ledger

RESULTS = Path(__file__).resolve().parents[1] / "docs/results"
PAGE = RESULTS / "node-article.md"
LEDGERS = "nodejs-*.yaml"
_HEAD = re.compile(r"^  (?P<id>[A-Z]\d+[a-z]?) +(?P<verdict>confirmed|direction only|refuted|undecided)\b", re.M)
_FIGURE = re.compile(r"measured: (?P<figure>without bound|[^(]+ %) \(\d+ %: (?P<low>[^)]+) to (?P<high>[^)]+)\)")
_UNBOUNDED = "without bound"
_NOT_IN_IT = re.compile(r" this campaign has no ")
"""Appears with a claim that the campaign did not cover, because it ran a part of the study."""
_SECTIONS = (
    "the first sentence",
    "Key Insights",
    "Architectural Overview",
    "Alternative Architecture: Pure JS QUIC vs N-API Bindings to Quiche",
    "Internal Source Code Walkthrough",
    "Benchmark Methodology",
    "Performance Comparison Table",
    "Head-of-Line Blocking Deep Dive",
    *(f"Code Snippet {number}" for number in (1, 2, 3)),
    "Case Study",
    *(f"Developer Tips, {number}" for number in (1, 2, 3)),
    "Frequently Asked Questions",
    "Conclusion & Call to Action",
    "at the end",
)
"""The sections in the article's order."""


@dataclass(frozen=True)
class Measured:
    """A published campaign's verdict on a claim."""

    campaign: str
    verdict: str
    figure: str


def entries() -> Iterator[str]:
    """Yield the lines of the tables of all entries, with a table for each section of the article."""
    said, found = _said_and_found()
    for section in dict.fromkeys([*_SECTIONS, *(row["where"] or "" for row in said.values())]):
        if inside := [row for row in said.values() if row["where"] == section]:
            yield from (f"### {section[0].upper()}{section[1:]}", "")
            yield from (*table([_line(row, found.get(row["id"])) for row in inside]), "")


def tally() -> str:
    """Return how many entries have each verdict, in the words of the page."""
    said, found = _said_and_found()
    verdicts = [found[name].verdict if name in found else row["verdict"] for name, row in said.items()]
    counted = ", ".join(f"{verdicts.count(word)} `{word}`" for word in sorted(set(verdicts)))
    counted = counted.replace("`holds`", "`holds` (correct by arithmetic alone)")
    return f"The files have {len(said)} entries: {counted}."


def _said_and_found() -> tuple[dict[str, ClaimRow], dict[str, Measured]]:
    """Return the ledger's claims by name, and the verdicts of published campaigns on them."""
    said = {row["id"]: row for row in _rows()}
    return said, {name: one for name, one in published().items() if name in said}


def published() -> dict[str, Measured]:
    """Return the verdicts of all published campaigns, by the claim's name."""
    printed = {
        name: measured
        for path, text in sorted(members().items())
        if PurePosixPath(path).match("*/claims*.txt")
        for name, measured in verdicts_of(path.partition("/")[0], text.decode())
    }
    return {**printed, **dict(_of_results())}


def _of_results() -> Iterator[tuple[str, Measured]]:
    known = results()
    for path in list_claims():
        if not path.match(LEDGERS):
            continue
        decided = decide_by_results(load_ledger(path), known)
        for row in decided.ledger["claims"]:
            if result := decided.by.get(row["id"]):
                found = _FIGURE.search(" ".join(measured_lines(row)))
                figure = _words(**found.groupdict()) if found else ""
                yield row["id"], Measured(_page_of(result.name), row["verdict"], figure)


def _page_of(result: str) -> str:
    """Return the name of the page that links to the result's data."""
    pages = (page for page in sorted(RESULTS.glob("*.md")) if page.name not in ("README.md", PAGE.name))
    return next(page.stem for page in pages if f"#{result}.json)" in page.read_text(encoding="utf-8"))


def verdicts_of(campaign: str, printed: str) -> Iterable[tuple[str, Measured]]:
    """Yield the claims that a campaign covered and its verdicts on them, from what `h123 claims` printed."""
    heads = list(_HEAD.finditer(printed))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        text = " ".join(printed[head.end() : after.start() if after else None].split())
        if _NOT_IN_IT.search(text):
            continue
        figure = _FIGURE.search(text)
        yield head["id"], Measured(campaign, head["verdict"], _words(**figure.groupdict()) if figure else "")


def _words(figure: str, low: str, high: str) -> str:
    """Format a figure with its interval. What has no bound has none because one of the two values is often zero."""
    shown = "no ratio" if figure == _UNBOUNDED else figure
    if low == high == _UNBOUNDED:
        return shown if figure == _UNBOUNDED else f"{shown} (no bounds)"
    if low == _UNBOUNDED:
        return f"{shown} (at most {high})"
    return f"{shown} (at least {low})" if high == _UNBOUNDED else f"{shown} ({low} to {high})"


def _rows() -> Iterator[ClaimRow]:
    for path in list_claims():
        if path.match(LEDGERS):
            yield from decide(load_ledger(path))["claims"]


def _line(row: ClaimRow, measured: Measured | None) -> dict[str, str]:
    """Return a table row: quotation, verdict, figure or arithmetic, and the source of the verdict."""
    if measured:
        note = f"; {row['note']}" if row["note"] else ""
        place = f"[{measured.campaign}]({measured.campaign}.md){note}"
        verdict, shown = measured.verdict, measured.figure
    else:
        verdict, shown = row["verdict"], "; ".join(one["shown"] for one in row["arithmetic"])
        place = f"needs {row['reason']}" if verdict == "open" else row["reason"] or ""
    return {
        "id": row["id"],
        "sentence": f"“{row['quotation']}”",
        "verdict": verdict,
        "figure": shown or "–",
        "decided by, or reason": place or "arithmetic",
    }
