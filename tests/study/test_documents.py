"""A site as real documents: each of its size, and asking for exactly what the site says."""

import re
from typing import Any

import pytest

from h123.base.paths import project_root
from h123.study.sites.documents import Documents
from h123.study.sites.site import Site, load_site

SITES = sorted(path.stem for path in (project_root() / "sites").glob("*.yaml"))
ONE_BY_ONE = re.compile(r'(?:href=|src=|url\(|fetch\(")(\d+)\.')
LOOP = re.compile(r"for\(let i=(\d+);i<=(\d+);i\+\+\)")


def documents(*resources: dict[str, Any]) -> Documents:
    return Documents(Site.model_validate({"name": "mine", "resources": resources}))


def contents(made: Documents) -> list[bytes]:
    return [content for _, content in made.contents()]


def asked_by(content: bytes) -> set[int]:
    """Read as text, without what made it: addresses, and loops over them."""
    text = content.decode(errors="ignore")
    found = {int(index) for index in ONE_BY_ONE.findall(text)}
    for low, high in LOOP.findall(text):
        found |= set(range(int(low), int(high) + 1))
    return found


@pytest.mark.parametrize("name", SITES)
def test_every_site_asks_for_what_it_says_and_each_body_has_its_size(name: str) -> None:
    site = load_site(name)
    made, loads = Documents(site), site.loads()
    assert made.fault() is None
    files = contents(made)
    assert [len(file) for file in files] == [one.size for one, _ in loads]
    for index, file in enumerate(files):
        asks = {at for at, (_, asker) in enumerate(loads) if asker == index}
        assert loads[index][0].type not in ("document", "style", "script") or asked_by(file) == asks


def test_paths_are_those_of_the_files_and_differ_for_every_page() -> None:
    small, large = documents({"name": "/", "type": "document", "size": 500}), Documents(load_site("large"))
    assert small.paths() == [f"/{small.folder}/{name}" for name, _ in small.contents()]
    assert len(set(large.paths())) == 202
    assert small.folder != large.folder


def test_data_asks_through_whoever_fetched_it() -> None:
    made = documents(
        {"name": "/", "type": "document", "size": 500},
        {"name": "feed", "type": "data", "size": 100, "by": "/", "run": "3ms"},
        {"name": "items", "type": "data", "size": 100, "by": "feed", "count": 2},
    )
    page = contents(made)[0].decode()
    assert 'fetch("1.json").then(a=>a.text()).then(_=>{for(let t=performance.now()+3;performance.now()<t;);' in page
    assert "for(let i=2;i<=3;i++)fetch" in page


def test_what_a_style_asks_for_is_needed_by_an_element_of_its_own_document() -> None:
    page, frame, *_ = contents(
        documents(
            {"name": "/", "type": "document", "size": 1000},
            {"name": "frame", "type": "document", "size": 1000, "by": "/"},
            {"name": "style", "type": "style", "size": 1000, "by": "frame"},
            {"name": "font", "type": "font", "size": 100, "by": "style"},
        )
    )
    assert b"<i id=a3>" in frame
    assert b"<i" not in page.replace(b"<iframe", b"")


@pytest.mark.parametrize(
    ("one", "complaint"),
    [
        ({"type": "image", "size": 100}, "'part' is image, which requests nothing in a browser, but 'next' is `by` it"),
        ({"type": "style", "size": 100}, "'part' is a style, which cannot request 'next' \\(script\\) in a browser"),
        ({"type": "script", "size": 20}, r"'part' has 20 B, but the text that requests its resources takes \d+ B"),
        ({"type": "script", "size": 900, "path": "/a.js"}, "'part' is on your own server"),
    ],
)
def test_what_cannot_be_is_said_in_words(one: dict[str, Any], complaint: str) -> None:
    made = documents(
        {"name": "/", "type": "document", "size": 500},
        {"name": "part", "by": "/", **one},
        {"name": "next", "type": "script", "size": 500, "by": "part"},
    )
    fault = made.fault()
    assert fault
    assert re.search(complaint, fault)


def test_a_text_too_small_for_its_own_frame_has_its_size_all_the_same() -> None:
    for size in (1, 2, 3, 4, 5):
        assert len(contents(documents({"name": "/", "type": "document", "size": 500},
                                      {"name": "s", "type": "style", "size": size, "by": "/"}))[1]) == size  # fmt: skip
