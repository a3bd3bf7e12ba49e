"""Sites: what a page is made of, and what cannot be one."""

from pathlib import Path

import pytest

from h123.errors import UserError
from h123.study import list_sites, read_site
from h123.study.site import load_site

START = """\
h123: site/1
name: mine
title: a page of mine
source: measured by myself
resources:
"""
DOCUMENT = "  - {name: /, type: document, size: 1kB, run: 10ms}\n"
STYLE = "  - {name: style, type: style, size: 2kB, by: /, run: 5ms}\n"


def write(folder: Path, resources: str, start: str = START) -> Path:
    path = folder / "mine.yaml"
    path.write_text(start + resources)
    return path


def test_a_page_has_a_graph(tmp_path: Path) -> None:
    """A resource may stand before the one that asks for it."""
    fonts = "  - {name: fonts, type: font, size: 3kB, by: style, count: 2}\n"
    page = load_site(str(write(tmp_path, DOCUMENT + fonts + STYLE)))
    assert [(one.name, asker) for one, asker in page.loads()] == [("/", None), ("fonts", 3), ("fonts", 3), ("style", 0)]
    assert page.depth() == [0, 2, 2, 1]
    assert (page.bytes, page.running_ns()) == (9000, 15_000_000)
    assert [one.priority for one in page.resources] == [0, 1, 0]


FAULTS = [
    ("", 5, "must not be empty"),
    (DOCUMENT + "  - {name: a, type: data, size: -1kB, by: /}\n", 7, "negative"),
    (DOCUMENT + "  - {name: a, type: data, size: 1kB, by: nobody}\n", 7, "there is no resource 'nobody'"),
    (DOCUMENT + "  - {name: a, type: data, size: 1kB}\n", 7, "what asks for 'a'?"),
    (DOCUMENT + "  - {name: a, type: film, size: 1kB, by: /}\n", 7, "'film' is not allowed"),
    (DOCUMENT + "  - {name: a, type: data, size: 1kB, by: /, urgency: 8}\n", 7, "urgency"),
    (DOCUMENT + "  - {name: a, type: data, size: 1kB, by: /, run: -1ms}\n", 7, "run"),
    (DOCUMENT + STYLE + STYLE, 8, "'style' is there twice"),
    (DOCUMENT.replace("run", "by: style, run") + STYLE, 6, "the first resource is the document"),
    (
        DOCUMENT + "  - {name: a, type: data, size: 1, by: b}\n  - {name: b, type: data, size: 1, by: a}\n",
        7,
        "they ask for one another: 'a' by 'b' by 'a'",
    ),
    (
        DOCUMENT + "  - {name: a, type: data, size: 1, by: /, count: 2}\n  - {name: b, type: data, size: 1, by: a}\n",
        8,
        "'a' stands for 2",
    ),
    (DOCUMENT + "  - {name: a, type: data, size: 1, by: /, count: 10000}\n", 5, "at most 10000"),
]


@pytest.mark.parametrize(("resources", "line", "fault"), FAULTS, ids=[fault for _, _, fault in FAULTS])
def test_what_cannot_be_a_page_is_refused_with_its_line(tmp_path: Path, resources: str, line: int, fault: str) -> None:
    path = write(tmp_path, resources or "  []\n")
    with pytest.raises(UserError) as refused:
        read_site(path)
    assert refused.value.message.startswith(f"{path}:{line}: ")
    assert fault in refused.value.message


def test_the_source_s_pages_move_what_it_says() -> None:
    """11, 51 and 101 of 1.4 kB and as many of 141 kB."""
    sites = {path.stem: read_site(path)[1] for path in list_sites()}
    for name, count in {"small": 11, "medium": 51, "large": 101}.items():
        assert (len(sites[name].loads()), sites[name].bytes) == (2 * count, count * 142_400)


def test_published_medians_are_of_the_almanac() -> None:
    """Web Almanac 2024, Page Weight: requests of the median page, and its types in KiB; 15 others have one each."""
    sites = {path.stem: read_site(path)[1] for path in list_sites()}
    for name, count, kib in [
        ("home-desktop", 71, 18 + 78 + 131 + 613 + 1054),
        ("home-mobile", 66, 18 + 73 + 111 + 558 + 900),
        ("inner-desktop", 65, 18 + 73 + 131 + 627 + 442),
    ]:
        assert len(sites[name].loads()) == count
        assert sites[name].bytes / 1024 - 15 == pytest.approx(kib, rel=1e-3)


def test_every_site_is_named_after_its_file() -> None:
    for path in list_sites():
        assert read_site(path)[1].name == path.stem
