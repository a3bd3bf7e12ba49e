"""Writes the pages of the published results for `make docs`: for each result its report, summary, claims and figure.

    PYTHONPATH=src .venv/bin/python tools/result_pages.py target/results

A result's files are written again if its data have changed, or the code that makes pages.
"""

import hashlib
import io
import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

from rich.console import Console

from h123.analysis.results.decided import decide_by_results
from h123.analysis.results.publication import published_verdicts
from h123.documents.result_file import PublishedResult, results
from h123.report import print_claims, print_summary, result_page
from h123.study import ledgers_of

CODE = Path(__file__).resolve().parents[1] / "src/h123"
MAKERS = ("analysis", "report")
COLUMNS = 80
_FIGURE = re.compile(
    r'<svg (?P<start>role[^>]*data-size="wide"[^>]*) width="(?P<width>\d+)" height="(?P<height>\d+)"[^>]*>'
    r"(?P<body>.*?</svg>)",
    re.DOTALL,
)
"""The page's first figure, "The answer", as wide as a desk's screen lets it be."""
_TALLEST = 1100
_MARGIN = 60
"""On both sides, for a font that is wider than the one that the figure was laid out with."""
_COLOURS = re.compile(r"<style>(.*?)\n\* \{", re.DOTALL)
"""The page's colours, which stand first in its style, for light and for dark screens."""
_FONT = 'text { font-family: Helvetica, Arial, "Liberation Sans", Roboto, sans-serif; }'


def main(folder: Path) -> None:
    """Write the files that are missing or out of date, and remove those of results that no longer exist."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {result.name for result in results()}
    for path in folder.iterdir():
        if path.name.partition(".")[0] not in names:
            path.unlink()
    stale = [result for result in results() if not _is_current(result, folder)]
    with ProcessPoolExecutor() as pool:
        for name in pool.map(_write, [(result, folder) for result in stale]):
            print(f"rendered {name}", flush=True)


def _write(job: tuple[PublishedResult, Path]) -> str:
    result, folder = job
    verdicts, _ = published_verdicts(result)
    page = result_page(result)
    (folder / f"{result.name}.html").write_text(page, encoding="utf-8")
    if figure := _figure(page):
        (folder / f"{result.name}.svg").write_text(figure, encoding="utf-8")
    summary = _printed(lambda console: print_summary(verdicts, console))
    (folder / f"{result.name}.txt").write_text(summary, encoding="utf-8")
    if ledgers := ledgers_of(verdicts["study"]):
        decided = [decide_by_results(ledger, [result]) for ledger in ledgers]
        text = _printed(lambda console: print_claims(decided, console))
        (folder / f"{result.name}.claims.txt").write_text(text, encoding="utf-8")
    _stamp(result, folder).write_text(_made_of(result), encoding="utf-8")
    return result.name


def _figure(page: str) -> str | None:
    """Return the page's answer as a separate picture. None if the page has no answer, or one too tall for a text."""
    figure, colours = _FIGURE.search(page), _COLOURS.search(page)
    if not figure or not colours or int(figure["height"]) > _TALLEST:
        return None
    width, height = int(figure["width"]) + 2 * _MARGIN, figure["height"]
    box = f'width="{width}" height="{height}" viewBox="-{_MARGIN} 0 {width} {height}"'
    style = f"<style>{colours[1]}\n{_FONT}</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {figure["start"]} {box}>{style}{figure["body"]}\n'


def _printed(show: Callable[[Console], None]) -> str:
    console = Console(width=COLUMNS, file=io.StringIO(), highlight=False)
    show(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _is_current(result: PublishedResult, folder: Path) -> bool:
    stamp = _stamp(result, folder)
    return stamp.is_file() and stamp.read_text("utf-8") == _made_of(result)


def _stamp(result: PublishedResult, folder: Path) -> Path:
    return folder / f"{result.name}.stamp"


def _made_of(result: PublishedResult) -> str:
    return hashlib.sha256(result.content + _code()).hexdigest()


@cache
def _code() -> bytes:
    files = sorted(path for maker in MAKERS for path in (CODE / maker).rglob("*") if path.suffix != ".pyc")
    return hashlib.sha256(b"".join(path.read_bytes() for path in [Path(__file__), *files] if path.is_file())).digest()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
