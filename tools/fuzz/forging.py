"""Forges documents: it gives every key of a document every value that the key must not have, one at a time."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

GONE = "gone"
VALUES: dict[str, str] = {
    GONE: "",
    "null": "null",
    "true": "true",
    "zero": "0",
    "minus one": "-1",
    "a fraction": "1.5",
    "not a number": "NaN",
    "infinity": "1e999",
    "2^63": "9223372036854775808",
    "400 digits": "9" * 400,
    "5000 digits": "9" * 5000,
    "nothing written": '""',
    "a word": '"x"',
    "digits as text": '"1"',
    "half a surrogate pair": '"\\ud800"',
    "an escape": '"\\u001b[31m"',
    "a path": '"../../../etc/passwd"',
    "long text": '"' + "é" * 20_000 + '"',
    "no list": "[]",
    "a list of null": "[null]",
    "a list of lists": "[[1], {}]",
    "no map": "{}",
    "a map": '{"a": 1}',
    "deep": "[" * 100_000 + "]" * 100_000,
}
"""Values in JSON's notation, or in one that JSON does not allow."""
_MARK = "the forged value stands here"


@dataclass(frozen=True)
class Forgery:
    """A document in which one key has a different value."""

    name: str
    """The key and its value: `study.factors := null`."""
    content: bytes


def forgeries(document: bytes) -> Iterator[Forgery]:
    """Yield all forgeries of a JSON document or of JSON lines."""
    lines = document.splitlines() if document.count(b"\n{") else [document]
    seen: set[str] = set()
    for number, line in enumerate(lines):
        content = json.loads(line)
        kind = f"{content.get('event')} " if len(lines) > 1 else ""
        for place in _places(content):
            name = kind + _written(place)
            if name in seen:
                continue
            seen.add(name)
            for value, text in VALUES.items():
                forged = _forged(line, place, value, text)
                whole = b"\n".join([*lines[:number], forged, *lines[number + 1 :]]) + b"\n"
                yield Forgery(f"{name} := {value}", whole)


def _places(content: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all keys in the content. Only the first item of a list counts."""
    keys: Any = content if isinstance(content, dict) else range(len(content[:1])) if isinstance(content, list) else ()
    for key in keys:
        yield (*above, key)
        yield from _places(content[key], (*above, key))


def _written(place: tuple[Any, ...]) -> str:
    return ".".join(map(str, place))


def _forged(line: bytes, place: tuple[Any, ...], value: str, text: str) -> bytes:
    content = json.loads(line)
    holder = content
    for key in itertools.islice(place, len(place) - 1):
        holder = holder[key]
    if value == GONE:
        del holder[place[-1]]
    else:
        holder[place[-1]] = _MARK
    return json.dumps(content).replace(f'"{_MARK}"', text).encode()
