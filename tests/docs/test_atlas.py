"""The pages of docs/results are an atlas: short, led by their answers, and with figures of published results."""

import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.dom.minidom import parseString

import pytest

from h123.base.paths import project_root
from h123.documents.result_archive import ARCHIVE, members, packed
from h123.documents.result_file import results
from h123.report import result_page
from scripts import script

ATLAS = project_root() / "docs/results"
MOST_WORDS, MOST_WORDS_A_PAGE = 25_000, 2_000
MEMBER = re.compile(r"\(data\.tar\.xz#([\w./-]+)\)")
MARK = re.compile(r"^<!-- figure: ([\w-]+) -->$", re.MULTILINE)


@pytest.fixture(name="atlas", scope="module")
def _atlas() -> ModuleType:
    return script("atlas")


def pages() -> Iterator[tuple[Path, str]]:
    """Each page with its text."""
    for path in sorted(ATLAS.rglob("*.md")):
        yield path, path.read_text("utf-8")


def test_pages_are_short() -> None:
    words = {path.name: len(text.split()) for path, text in pages()}
    assert len(words) >= 20
    assert {name: count for name, count in words.items() if count > MOST_WORDS_A_PAGE} == {}
    assert sum(words.values()) <= MOST_WORDS


def test_each_page_begins_with_its_answer_and_is_in_the_index() -> None:
    index = (ATLAS / "README.md").read_text("utf-8")
    for path, text in pages():
        if path.name != "README.md":
            assert text.split("\n\n")[1].startswith("**"), path
            assert f"({path.relative_to(ATLAS)})" in index, path


def test_the_archive_has_what_pages_link_to_and_is_as_h123_packs_it() -> None:
    assert set(members()) == {name for _, text in pages() for name in MEMBER.findall(text)}
    assert packed(members()) == ARCHIVE.read_bytes()


def test_a_folder_becomes_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, archive = script("results_archive"), tmp_path / "a.tar.xz"
    monkeypatch.setattr(program, "ARCHIVE", archive)
    with pytest.raises(SystemExit, match="has no files"):
        program.main(tmp_path)
    for name in ("quick/summary.txt", "quick.json"):
        (tmp_path / "new" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "new" / name).write_text(name)
    program.main(tmp_path / "new")
    assert members(archive) == {name: name.encode() for name in ("quick.json", "quick/summary.txt")}


def test_the_site_links_to_members_of_the_archive_and_shows_tables() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="results/matrix.md"))
    links = script("docs_links")
    text = "[one](data.tar.xz#quick/summary.txt), [all](data.tar.xz), [two](data.tar.xz#two.json)\n\n"
    text += "<!-- table: matrix.csv.xz -->\n"
    first, _, table = links.on_page_markdown(text, page).partition("\n\n")
    assert first == "[one](quick/summary.txt), [all](data.tar.xz), two: [data](data/two.json)"
    heading, _, *rows = table.splitlines()
    assert len({line.count("|") for line in (heading, *rows)}) == 1
    cells = "".join(cell for row in rows for cell in row.split("|")[2:])
    assert (len(re.findall("[123]", cells)), cells.count("✗")) == (992, 6)


def test_each_mark_names_a_published_result() -> None:
    marked = {name for _, text in pages() for name in MARK.findall(text)}
    assert len(marked) >= 8
    assert marked <= {result.name for result in results()} | {"atlas-h2", "atlas-h3"}


def test_the_figure_of_a_page_stands_alone() -> None:
    [result] = [one for one in results() if one.name == "fast-open"]
    figure = script("result_pages")._figure(result_page(result))
    words = script("docs_links")._alternative(figure)
    assert re.search(r"h2-fast-open / h2-resumed: home 0\.\d+ faster; cellular 0\.\d+ faster\.", words)
    document = parseString(figure).documentElement
    assert document.tagName == "svg"
    assert document.getAttribute("aria-label").startswith("The answer.")
    used, defined = set(re.findall(r"var\((--\w[\w-]*)\)", figure)), set(re.findall(r"(--\w[\w-]*):", figure))
    assert used
    assert used <= defined
    assert script("result_pages")._figure("<html>no figure</html>") is None


def test_what_the_atlas_says_follows_from_its_data(atlas: ModuleType) -> None:
    page = (ATLAS / "atlas.md").read_text("utf-8").partition("## Why")[0]
    for workload, title in atlas.WORKLOADS.items():
        [line] = [line for line in page.splitlines() if line.startswith(f"* **{title}:**")]
        assert line.endswith(f" {atlas.counts(workload)}.")
    assert {row["network"] for row in atlas.rows()} == set(atlas.NETWORKS)


def test_what_the_atlas_says_of_other_pages_is_said_there() -> None:
    page = (ATLAS / "atlas.md").read_text("utf-8").partition("## What to set")[2].partition("## How far")[0]
    lines = [line for line in page.splitlines() if ".md)" in line]
    assert len(lines) >= 8
    for line in lines:
        linked = " ".join((ATLAS / name).read_text("utf-8") for name in re.findall(r"\]\(([\w-]+\.md)\)", line))
        for number in re.findall(r"\d[\d.]*\d|\d", line):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", linked), line


def test_the_atlas_draws_and_tabulates_each_comparison(atlas: ModuleType, tmp_path: Path) -> None:
    atlas.main(tmp_path)
    drawn = 0
    for name in ("atlas-h3.svg", "atlas-h2.svg"):
        picture = (tmp_path / name).read_text("utf-8")
        document = parseString(picture).documentElement
        drawn += len(document.getElementsByTagName("title"))
        label = document.getAttribute("aria-label")
        assert script("docs_links")._alternative(picture) == label
        assert re.search("First visits: region, .*; home, ", label)
        used, defined = set(re.findall(r"var\((--\w[\w-]*)\)", picture)), set(re.findall(r"(--\w[\w-]*):", picture))
        assert used <= defined
    assert drawn == len(atlas.rows())
    table = list(atlas.table())
    assert len({line.count("|") for line in table}) == 1
    verdicts = "|".join(atlas.VERDICTS)
    assert sum(int(count) for count in re.findall(rf"(\d+) (?:{verdicts})", "\n".join(table[2:]))) == drawn


def test_the_data_of_the_atlas_come_from_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"twin": False, "cell": {"workload": "api", "network": "lte"}, "metric": "cold_latency", "a": "nginx-1.26-h3"}
    one |= {"b": "nginx-1.26-h2", "a_median": 0.11, "b_median": 0.1659, "ratio": 0.66321, "low": 0.66, "high": 0.67}
    one |= {"withheld": None}
    failing = dict.fromkeys(("ratio", "low", "high", "a_median")) | {"withheld": {"kind": "failures"}}
    rows = [
        one | {"verdict": "faster"},
        one | failing | {"verdict": "inconclusive", "cell": {"workload": "api", "network": "poor"}},
        one | {"verdict": "faster", "twin": True},
        one | {"metric": "rps", "verdict": "higher"},
    ]
    (tmp_path / "verdicts.json").write_text(json.dumps({"comparisons": rows}))
    saved = script("atlas_saved", "bench")
    with pytest.raises(SystemExit, match="CAMPAIGN"):
        saved.main([])
    new = ["first", "lte", "nginx-1.26", "h3/h2", "110", "166", "0.663", "0.66", "0.67", "faster"]
    unjudged = ["first", "poor", "nginx-1.26", "h3/h2", "", "", "", "", "", "not judged"]
    assert list(saved._rows(tmp_path)) == [new, unjudged]
    old = [["api", "lte", "go", *new[3:]], ["first", "lte", "nginx-1.26", *new[3:5], "9", *new[6:]]]
    monkeypatch.setattr(saved, "SAVED", tmp_path / "atlas.csv.xz")
    saved.SAVED.write_bytes(lzma.compress("\n".join(map(",".join, [saved.HEAD, *old])).encode()))
    saved.main([str(tmp_path)])
    lines = lzma.decompress(saved.SAVED.read_bytes()).decode().splitlines()
    assert [line.split(",") for line in lines] == [saved.HEAD, old[0], new, unjudged]
