"""Sites: what a page is made of, and what cannot be one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.errors import UserError
from h123.study import list_sites, read_site
from h123.study.quantities import RESOLVED
from h123.study.sites.site import Site, load_site

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


def test_a_page_may_have_other_hosts(tmp_path: Path) -> None:
    hosted = "  - {name: a, type: image, size: 3kB, by: /, host: b, count: 2}\n"
    page = load_site(str(write(tmp_path, DOCUMENT + STYLE + hosted)))
    assert page.hosts == ["b"]
    assert [one.host for one, _ in page.loads()] == [None, None, "b", "b"]


def test_a_returning_visitor_does_not_ask_for_what_is_cacheable(tmp_path: Path) -> None:
    """Askers that are not asked for pass on what they ask for, and how long they run; the document is asked for."""
    resources = (
        "  - {name: /, type: document, size: 1kB, run: 10ms, cacheable: true}\n"
        "  - {name: data, type: data, size: 4kB, by: inner}\n"
        "  - {name: inner, type: script, size: 3kB, by: outer, run: 7ms, cacheable: true}\n"
        "  - {name: outer, type: script, size: 2kB, by: /, run: 5ms, cacheable: true}\n"
        "  - {name: unused, type: script, size: 2kB, by: /, run: 90ms, cacheable: true}\n"
        "  - {name: logos, type: image, size: 2kB, by: /, count: 3, cacheable: true}\n"
        "  - {name: more, type: image, size: 5kB, by: data}\n"
    )
    page = load_site(str(write(tmp_path, resources)))
    kept = page.repeat_requests()
    assert [(one.name, one.by, one.run) for one in kept.resources] == [
        ("/", None, 22_000_000),
        ("data", "/", 0),
        ("more", "data", 0),
    ]
    assert (kept.bytes, page.bytes) == (10_000, 23_000)
    assert kept.repeat_requests() == kept


@st.composite
def pages(draw: st.DrawFn) -> Site:
    """Each resource by an earlier one."""
    count = draw(st.integers(1, 12))
    resources = [{"name": "0", "type": "document", "size": 1, "cacheable": draw(st.booleans())}]
    for number in range(1, count):
        own = {"by": str(draw(st.integers(0, number - 1))), "run": draw(st.integers(0, 50)) * 1_000_000}
        more = {"host": draw(st.sampled_from([None, "b", "c"])), "cacheable": draw(st.booleans())}
        resources.append({"name": str(number), "type": "data", "size": number, **own, **more})
    return Site.model_validate({"name": "any", "resources": resources}, context=RESOLVED)


@given(pages())
def test_what_a_returning_visitor_asks_for(page: Site) -> None:
    """All that is not cacheable, each after the nearest asker that is left, and no sooner."""
    kept = page.repeat_requests()
    left = {one.name: one for one in kept.resources}
    assert set(left) == {"0"} | {one.name for one in page.resources if not one.cacheable}
    given_ = {one.name: one for one in page.resources}
    for name, one in left.items():
        asker, between = given_[name].by, 0
        while asker is not None and asker not in left:
            asker, between = given_[asker].by, between + given_[asker].run
        assert one.by == asker
        if asker is not None:
            assert left[asker].run >= given_[asker].run + between
    assert kept.running_ns() <= sum(one.run for one in page.resources)
    assert (kept == page) == (not any(one.cacheable for one in page.resources[1:]))


FAULTS = [
    (DOCUMENT.replace("run", "host: b, run"), 6, "the document is on the page's own host"),
    (DOCUMENT + "  - {name: a, type: data, size: 1, by: /, host: B_}\n", 7, "host"),
    (DOCUMENT + "  - {name: a, type: data, size: 1, by: /, host: a.b}\n", 7, "host"),
    (DOCUMENT + "  - {name: a, type: data, size: 1, by: /, cacheable: 1h}\n", 7, "cacheable"),
    ("", 5, "must not be empty"),
    (DOCUMENT + "  - {name: a, type: data, size: -1kB, by: /}\n", 7, "negative"),
    (DOCUMENT + "  - {name: a, type: data, size: 1kB, by: nobody}\n", 7, "there is no resource 'nobody'"),
    (DOCUMENT + "  - {name: a, type: data, size: 1kB}\n", 7, "nothing requests 'a'"),
    (DOCUMENT + "  - {name: a, type: film, size: 1kB, by: /}\n", 7, "'film' is not allowed"),
    (DOCUMENT + "  - {name: a, type: data, size: 1kB, by: /, urgency: 8}\n", 7, "urgency"),
    (DOCUMENT + "  - {name: a, type: data, size: 1kB, by: /, run: -1ms}\n", 7, "run"),
    (DOCUMENT + STYLE + STYLE, 8, "'style' occurs twice"),
    (DOCUMENT.replace("run", "by: style, run") + STYLE, 6, "the first resource is the document"),
    (
        DOCUMENT + "  - {name: a, type: data, size: 1, by: b}\n  - {name: b, type: data, size: 1, by: a}\n",
        7,
        "resources request each other: 'a' by 'b' by 'a'",
    ),
    (
        DOCUMENT + "  - {name: a, type: data, size: 1, by: /, count: 2}\n  - {name: b, type: data, size: 1, by: a}\n",
        8,
        "'a' has `count: 2`",
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
