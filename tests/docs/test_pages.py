"""Pages are short, have one purpose, and begin with what the reader will be able to do."""

import re
from pathlib import Path

import pytest
import yaml

from h123.base.paths import project_root

DOCS = project_root() / "docs"
GENERATED = {"catalogue.md", "constants.md", "glossary.md", "hostile.md", "networks.md", "profiles.md", "zoo.md"}
MOST_WORDS_A_PAGE = 2_000
"""Of pages outside of Reference."""
MOST_WORDS = 45_000
"""Of all pages without generated ones and results. Change it only to make it smaller."""


def _nav() -> dict[str, list[str]]:
    """Return the pages of the site by their part."""
    nav = yaml.safe_load((project_root() / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2])
    return {title: list(_names(pages)) for part in nav for title, pages in part.items()}


def _names(pages: object) -> list[str]:
    if isinstance(pages, str):
        return [pages]
    assert isinstance(pages, list)
    return [name for entry in pages for below in entry.values() for name in _names(below)]


def _short() -> list[str]:
    return [name for part, names in _nav().items() if part not in ("Reference", "Results") for name in names]


@pytest.mark.parametrize("name", _short())
def test_a_page_outside_of_the_reference_is_short(name: str) -> None:
    assert len((DOCS / name).read_text("utf-8").split()) <= MOST_WORDS_A_PAGE


@pytest.mark.parametrize("name", [name for name in _short() if name != "index.md"])
def test_a_page_begins_with_what_the_reader_will_be_able_to_do(name: str) -> None:
    first = (DOCS / name).read_text("utf-8").split("\n\n")[1]
    promise = r"his page shows you how to |After reading (this page|a guide), you (can|will know) "
    assert re.search(promise, first), first


def test_the_readme_is_read_in_minutes() -> None:
    assert len((project_root() / "README.md").read_text("utf-8").split()) <= 900


def test_all_pages_together_do_not_grow() -> None:
    pages = [path for path in DOCS.rglob("*.md") if path.name not in GENERATED and _is_counted(path)]
    assert len(pages) > 50
    assert sum(len(path.read_text("utf-8").split()) for path in pages) <= MOST_WORDS


def _is_counted(path: Path) -> bool:
    return path.relative_to(DOCS).parts[0] not in ("results", "data")
