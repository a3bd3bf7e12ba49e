"""Reads the previous version's spellings in verdicts.json. The next version will no longer accept them."""

from collections.abc import Iterator
from typing import Any

from h123.causes import FORMER_NAMES
from h123.study import metric

_SUMS = {f"{side}_{old}": f"{side}_{new}" for side in "ab" for old, new in FORMER_NAMES.items()}
_BETTER, _WORSE = "faster", "slower"
"""The previous version's words for better and worse, which it used even for metrics that are not times."""
_VERDICTS = ("verdict", "small", "all")
"""The keys whose values are verdicts."""


def respelled_verdicts(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a verdicts.json with the keys and words of this version. A part with an unexpected shape is
    left as it is. The model of verdicts.json then rejects it."""
    for row in _rows(content, "causes"):
        if isinstance(sums := row.get("sums"), dict):
            row["sums"] = {_SUMS.get(name, name): share for name, share in sums.items()}
        for part in _rows(row, "parts"):
            part |= {
                name: FORMER_NAMES.get(part[name], part[name]) for name in ("cause", "group") if _is_word(part, name)
            }
    for row in _verdict_rows(content):
        better, worse = metric(row["metric"]).verdicts
        words = {_BETTER: better, _WORSE: worse}
        for verdict_row in (row, row.get("whole"), *_rows(row, "steps")):
            if isinstance(verdict_row, dict):
                verdict_row |= {
                    name: words[verdict_row[name]]
                    for name in _VERDICTS
                    if _is_word(verdict_row, name) and verdict_row[name] in words
                }
    return content


def _verdict_rows(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    disturbances = content.get("disturbances")
    rows = [*_rows(content, "comparisons"), *_rows(content, "ladder")]
    rows += _rows(disturbances, "without") if isinstance(disturbances, dict) else []
    yield from (row for row in rows if _is_word(row, "metric"))


def _rows(content: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = content.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _is_word(row: dict[str, Any], name: str) -> bool:
    return isinstance(row.get(name), str)
