"""For `make docs`: a page of the site names what is in the repository and not in `docs`, where a link would be dead.

A hook of MkDocs, which calls `on_page_markdown` of each page.
"""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<path>[^)\s#:]+)(?:#[^)\s]*)?\)")
_DOCS = Path(__file__).resolve().parents[1] / "docs"


def on_page_markdown(markdown: str, page: Any, **_other: Any) -> str:
    """The page's text, with links out of `docs`, and to folders, as words."""
    here = PurePosixPath(page.file.src_uri).parent
    return _LINK.sub(lambda link: _link(link, here), markdown)


def _link(link: re.Match[str], here: PurePosixPath) -> str:
    path = normpath(here / link["path"])
    if not path.startswith("..") and (_DOCS / path).is_file():
        return link[0]
    name = path.removeprefix("../") if path.startswith("..") else f"docs/{path}"
    if not (_DOCS.parent / name).exists():
        return link[0]  # dead: MkDocs shall say so
    text = link["text"]
    return text if text.strip("`") == name else f"{text} (`{name}`)"
