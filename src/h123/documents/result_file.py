"""Reads and writes published results: `NAME.json` in docs/results/data.tar.xz. A result is three lines of JSON, which
are the head, the verdicts, and the data of the page.

The head comes first, so that commands that need only the head parse nothing else. The head contains a digest of its own
content, and a digest of the other two lines. In these two, lists of rows are stored by column, which compresses better.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from h123 import __version__
from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.files.jsontext import parse_json
from h123.documents.result_archive import ARCHIVE, damaged, members, put
from h123.study import respelled_campaign

FORMAT = "result/4"
_SUFFIX = ".json"
DIGITS = 4
"""The number of significant digits to which fractions are rounded, unless a caller of `rounded` chooses another."""
_COLUMNS = "by column"
"""The only key of an object that stores rows by column."""
_ABSENT = "(absent)"
"""Stands in a column for a row that lacks the key."""


@dataclass(frozen=True)
class PublishedResult:
    name: str
    content: bytes = field(repr=False)
    archive: Path

    @property
    def place(self) -> str:
        """The member and its archive, for messages."""
        return f"{self.name}{_SUFFIX} in {self.archive}"

    @cached_property
    def head(self) -> Mapping[str, Any]:
        """The head of the result. Raises UserError if the result is damaged or has a different format."""
        head = self._parsed(self.content.partition(b"\n")[0])
        if head.get("h123") != FORMAT:
            raise UserError(
                f"{self.place} has format {excerpt(head.get('h123'))}; this h123 ({__version__}) reads {FORMAT}",
                remedy="use the version of h123 that wrote it",
            )
        content = {name: part for name, part in head.items() if name != "digest"}
        if _sha256(canonical(content)) != head.get("digest"):
            raise self._damaged("its first line is not as h123 wrote it")
        return head

    @cached_property
    def campaign(self) -> Mapping[str, Any]:
        """The result's campaign.json, with the names that this version of h123 uses."""
        return respelled_campaign(self.head["campaign"])

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the verdicts and the data of the page. Raises UserError if the result is damaged or has a different
        format."""
        head, (_, *rest) = self.head, self.content.splitlines(keepends=True)
        if len(rest) != 2 or not rest[1].endswith(b"\n"):
            raise self._damaged("it does not consist of the three lines of a result")
        if _sha256(b"".join(rest)) != head["rest"]:
            raise self._damaged("it has changed since h123 wrote it")
        try:
            verdicts, page = (_in_rows(self._parsed(line)) for line in rest)
        except (AttributeError, TypeError, ValueError):
            raise self._damaged("its columns do not form rows") from None
        return {**verdicts, "claims": head["claims"]}, page

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            content = parse_json(line)
        except ValueError as error:
            raise self._damaged(str(error)) from None
        if not isinstance(content, dict):
            raise self._damaged("a line is not a JSON object")
        return content

    def _damaged(self, why: str) -> UserError:
        return damaged(self.place, why)


def results(archive: Path = ARCHIVE) -> list[PublishedResult]:
    return [
        PublishedResult(name.removesuffix(_SUFFIX), content, archive)
        for name, content in sorted(members(archive).items())
        if name.endswith(_SUFFIX)
    ]


def write_result(
    name: str,
    head: Mapping[str, Any],
    verdicts: Mapping[str, Any],
    page: Mapping[str, Any],
    archive: Path = ARCHIVE,
) -> PublishedResult:
    """Put the result into the archive and return it. Equal content gives equal bytes."""
    rest = canonical(_in_columns(rounded(verdicts))) + canonical(_in_columns(rounded(page)))
    content = {**rounded(head), "rest": _sha256(rest)}
    first = canonical({**content, "digest": _sha256(canonical(content))})
    put({f"{name}{_SUFFIX}": first + rest}, archive)
    return PublishedResult(name, first + rest, archive)


def canonical(content: object) -> bytes:
    """Return the content as a line of JSON. Equal content gives equal lines."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.encode() + b"\n"


def rounded(content: Any, digits: int = DIGITS) -> Any:
    """Round each fraction in the content to `digits` significant digits."""
    if isinstance(content, float):
        return float(f"{content:.{digits}g}")
    if isinstance(content, Mapping):
        return {name: rounded(part, digits) for name, part in content.items()}
    return [rounded(part, digits) for part in content] if isinstance(content, list | tuple) else content


def _in_rows(content: Any) -> Any:
    """Return the content of a line, with rows that are stored by column turned back into rows."""
    if isinstance(content, list):
        return [_in_rows(part) for part in content]
    if not isinstance(content, dict):
        return content
    parts = {name: _in_rows(part) for name, part in content.items()}
    return _rows(parts[_COLUMNS]) if parts.keys() == {_COLUMNS} else parts


def _rows(columns: Any) -> list[dict[str, Any]]:
    rows = zip(*columns.values(), strict=True)
    return [{name: part for name, part in zip(columns, row, strict=True) if part != _ABSENT} for row in rows]


def _in_columns(content: Any) -> Any:
    """Return the content with each list of rows stored by column, at all levels."""
    if isinstance(content, dict):
        return {name: _in_columns(part) for name, part in content.items()}
    if not isinstance(content, list):
        return content
    if len(content) < 2 or not all(isinstance(row, dict) and row for row in content):
        return [_in_columns(part) for part in content]
    names = sorted({name for row in content for name in row})
    return {_COLUMNS: {name: _in_columns([row.get(name, _ABSENT) for row in content]) for name in names}}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
