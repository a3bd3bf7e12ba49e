"""Whoever follows a reference in the project's documents, or from its code into them, finds what it names."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from h123.base.paths import project_root

ROOT = project_root()
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.M)
FENCED = re.compile(r"^ *```.*?^ *```", re.M | re.S)
PAGE = re.compile(r"\bdocs/(?:[\w-]+/)*[\w-]+\.md\b")
ELSEWHERE = ("http://", "https://", "mailto:")
PLACES = ("bench", "docs", "lab", "networks", "src", "studies", "subjects", "tests")
BUILT = {"target", "node_modules", "__pycache__"}


def _kept(*endings: str) -> list[Path]:
    """The project's own files, without what is built among them."""
    found = [path for place in PLACES for path in (ROOT / place).rglob("*") if path.suffix in endings]
    found += [path for path in ROOT.iterdir() if path.suffix in endings]
    return sorted(path for path in found if path.is_file() and not BUILT & {*path.relative_to(ROOT).parts})


DOCUMENTS = _kept(".md")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_link_is_dead(document: Path) -> None:
    assert [link for link in _links(document) if not _leads_somewhere(document, link)] == []


def test_what_the_code_names_is_there() -> None:
    code = _kept(".py", ".rs", ".go", ".toml", ".yaml", ".java", ".mjs", ".c", ".h")
    dead = {
        f"{path.relative_to(ROOT)}: {page}"
        for path in code
        for page in PAGE.findall(path.read_text("utf-8", errors="replace"))
        if not (ROOT / page).is_file()
    }
    assert dead == set()


def test_each_document_is_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        reached.add(document)
        ahead = {(document.parent / link.partition("#")[0]).resolve() for link in _links(document)}
        waiting += [path for path in ahead - reached if path.suffix == ".md" and path.is_file()]
    missed = {str(path.relative_to(ROOT)) for path in DOCUMENTS if path.is_relative_to(ROOT / "docs")} - {
        str(path.relative_to(ROOT)) for path in reached
    }
    assert missed == set()


def _links(document: Path) -> Iterator[str]:
    text = FENCED.sub("", document.read_text("utf-8"))
    return (link for link in LINK.findall(text) if not link.startswith(ELSEWHERE))


def _leads_somewhere(document: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    path = (document.parent / name).resolve() if name else document
    return path.exists() and (not heading or path.suffix != ".md" or heading in _headings(path))


@cache
def _headings(document: Path) -> list[str]:
    """Of its sections, as GitHub makes them of their titles."""
    titles = HEADING.findall(FENCED.sub("", document.read_text("utf-8")))
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
