"""Adapts links and figures of the site's pages, for `make docs`.

In the repository, pages link to files outside `docs`. Those links would be dead on the site, so the page names the
files instead. Next to a link to the data of a published result, the page gets links to the pages that
`tools/result_pages.py` made from it. The comment `<!-- figure: NAME -->` becomes the figure of that result, and
`<!-- table: FILE -->` the CSV file as a table. Texts that are stored compressed are unpacked, and so
is the archive of results. Wide tables scroll, so they can be reached with the keyboard.

MkDocs calls the functions of this hook: `on_files` once, the others for each page.
"""

import csv
import lzma
import re
import tarfile
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<path>[^)\s#:]+)(?:#(?P<part>[^)\s]*))?\)")
_FIGURE = re.compile(r"^<!-- figure: (?P<name>[\w-]+) -->$", re.MULTILINE)
_TABLE = re.compile(r"^<!-- table: (?P<path>[\w./-]+\.csv(?:\.xz)?) -->$", re.MULTILINE)
_TEXT = re.compile(r'<text text-anchor="(?P<anchor>\w+)"(?P<rest>[^>]*)>(?P<text>[^<]*)')
_DOCS = Path(__file__).resolve().parents[1] / "docs"
_RENDERED = _DOCS.parent / "target/results"
_REFERENCE = _DOCS.parent / "target/reference"
_GENERATED = re.compile(
    r"(?:^\*All .*: run `make docs`, then open `.*\.\*\n\n)?(?P<heading>^## .*\n\n)?"
    r"<!-- generated: (?P<name>[a-z-]+) -->",
    re.MULTILINE,
)
"""Before it, a sentence may tell readers of the repository how to get the text."""
_ARCHIVE = "results/data.tar.xz"
_DATA, _DATA_SUFFIX = "results/data", ".json"
_PACKED = ".csv.xz"
_PAGES = {"report": ".html", "summary": ".txt", "claims": ".claims.txt"}


def on_files(files: Any, config: Any) -> Any:
    """Return the site's files together with the pages made from results and with the unpacked files."""
    from mkdocs.structure.files import File  # of the environment of `make docs` alone

    for path in sorted(_RENDERED.glob("*.*")):
        if path.suffix != ".stamp":
            files.append(File.generated(config, f"{_DATA}/{path.name}", abs_src_path=str(path)))
    for path in sorted(_DOCS.rglob(f"*{_PACKED}")):
        name = path.relative_to(_DOCS).as_posix().removesuffix(".xz")
        files.append(File.generated(config, name, content=lzma.decompress(path.read_bytes())))
    with tarfile.open(_DOCS / _ARCHIVE) as archive:
        for member in archive:
            content = archive.extractfile(member).read()  # type: ignore[union-attr]
            folder = _DATA if member.name.endswith(_DATA_SUFFIX) else "results"
            files.append(File.generated(config, f"{folder}/{member.name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_other: Any) -> str:
    """Return the page with its generated parts and figures. Links to folders and to files outside `docs` become plain
    text."""
    here = PurePosixPath(page.file.src_uri).parent
    markdown = _GENERATED.sub(_generated, markdown)
    linked = _LINK.sub(lambda link: _link(link, here), markdown)
    linked = _TABLE.sub(lambda mark: _table(_DOCS / here / mark["path"]), linked)
    return _FIGURE.sub(lambda mark: _figure(mark["name"], here), linked)


def on_page_content(html: str, **_other: Any) -> str:
    """Return the page with tables that can have the keyboard's focus."""
    return html.replace("<table>", '<table tabindex="0">')


def _generated(mark: re.Match[str]) -> str:
    """Return the generated text, after the heading that the mark may have."""
    return (mark["heading"] or "") + (_REFERENCE / f"{mark['name']}.md").read_text("utf-8")


def _figure(name: str, here: PurePosixPath) -> str:
    """Return the Markdown image of the result's figure, or an empty string if the result has none."""
    path = _RENDERED / f"{name}.svg"
    if not path.is_file():
        return ""
    alternative = _alternative(path.read_text(encoding="utf-8"))
    return f"![{alternative}]({relpath(f'{_DATA}/{name}.svg', here)})"


def _table(path: Path) -> str:
    """Return the CSV file as a table in Markdown."""
    content = path.read_bytes()
    text = (lzma.decompress(content) if path.suffix == ".xz" else content).decode()
    heading, *rows = csv.reader(text.splitlines())
    return "\n".join(f"| {' | '.join(row)} |" for row in [heading, ["---"] * len(heading), *rows])


def _alternative(figure: str) -> str:
    """Return the figure's numbers in words: its own label, or the title of each panel, then the name and the value of
    each of its rows."""
    if words := re.search(r'aria-label="([^"]*)" data-words', figure):
        return words[1]
    panels, names, values = list[str](), list[str](), list[str]()
    for found in _TEXT.finditer(figure):
        text = " ".join(found["text"].split())
        if "bold" in found["rest"]:
            rows = "; ".join(f"{name} {value}" for name, value in zip(names, values, strict=False))
            panels.append(f"{text}: {rows}.")
            names, values = [], []
        elif found["anchor"] == "end":
            names.append(text)
        elif found["anchor"] == "start":
            values.append(text)
    return " ".join(panels)


def _link(link: re.Match[str], here: PurePosixPath) -> str:
    path = normpath(here / link["path"])
    if not path.startswith("..") and (_DOCS / path).is_file():
        return _rendered(link, path) or link[0]
    name = path.removeprefix("../") if path.startswith("..") else f"docs/{path}"
    if not (_DOCS.parent / name).exists():
        return link[0]  # dead: MkDocs shall say so
    text = link["text"]
    return text if text.strip("`") == name else f"{text} (`{name}`)"


def _rendered(link: re.Match[str], path: str) -> str | None:
    """Return a link to the unpacked text, or links to the pages made from a result and to its data. None for any other
    link."""
    if path.endswith(_PACKED):
        return f"[{link['text']}]({link['path'].removesuffix('.xz')})"
    member = link["part"]
    if path != _ARCHIVE or not member:
        return None
    folder = link["path"].removesuffix("data.tar.xz")
    if not member.endswith(_DATA_SUFFIX):
        return f"[{link['text']}]({folder}{member})"
    name = member.removesuffix(_DATA_SUFFIX)
    to = f"{folder}data/{name}"
    made = [f"[{what}]({to}{suffix})" for what, suffix in _PAGES.items() if (_RENDERED / f"{name}{suffix}").is_file()]
    return f"{name}: {', '.join([*made, f'[data]({to}{_DATA_SUFFIX})'])}"
