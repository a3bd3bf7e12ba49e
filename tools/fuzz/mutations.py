"""Makes cases from real files: damage such as a disk, a crash, a careless user or an attacker may cause."""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

MOST = 6
"""The maximum number of mutations in a case."""
LONGEST = 1 << 20
"""The maximum size of a case in bytes. A longer one is cut."""
DEEPEST = 100_000

NUMBERS = (
    *("0", "-0", "1", "-1", "0.5", "127", "255", "256", "65535", "65536", "2147483647", "4294967296", "1e308", "1e309"),
    *("9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616"),
    *("1e999999", "-1e-999999", "NaN", "Infinity", "-Infinity", "0x10", "1_000", "٣", "9" * 400, "9" * 5000),
    "1" + "0" * 30,
)
TEXTS = (
    *(
        "",
        " ",
        "null",
        "true",
        "false",
        "[]",
        "{}",
        "\x00",
        "\\u0000",
        "\ufeff",
        "\ud7ff",
        "😀",
        "é" * 50,
        "~",
        "!!int ''",
    ),
    *(
        "../../etc/passwd",
        "/dev/zero",
        'x" FROM samples; --',
        "it's",
        "a\nb",
        "\r",
        ",",
        ":",
        "&a",
        "*a",
        "<<",
        "%s{0}",
    ),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**400, 1e308),
    *(float("inf"), float("nan"), "", "x", "\x00", "é" * 300, "../..", [], {}, [None], [[]], {"": {}}, [0] * 100),
    *("h3", "wall", "1"),
)
_TOKEN = re.compile(rb"[\w.+-]+")

Mutation = Callable[[bytearray, random.Random, Sequence[bytes], Sequence[bytes]], bytearray]


def make_case(corpus: Sequence[bytes], words: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a case. The same state of `chance` gives the same case. `words` are tokens that are worth inserting."""
    case = bytearray(chance.choice(corpus))
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, MOST))):
        case = chance.choice(MUTATIONS)(case, chance, corpus, words)
    return bytes(case[:LONGEST])


def tokens(corpus: Sequence[bytes], words: Sequence[str]) -> list[bytes]:
    """Return the tokens of the corpus, the given words, and values that are worth trying everywhere."""
    found = sorted({token for text in corpus for token in _TOKEN.findall(text) if len(token) <= 40})
    return [*found[:2000], *(word.encode(errors="surrogatepass") for word in (*words, *NUMBERS, *TEXTS))]


def _place(case: bytearray, chance: random.Random) -> int:
    return chance.randrange(len(case) + 1)


def _span(case: bytearray, chance: random.Random) -> slice:
    start = _place(case, chance)
    return slice(start, start + chance.choice((1, 2, 4, 16, 64, 1024)))


def _flip(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    for _ in range(chance.choice((1, 1, 1, 8))):
        if case:
            case[chance.randrange(len(case))] ^= 1 << chance.randrange(8)
    return case


def _noise(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    case[_span(case, chance)] = chance.randbytes(chance.choice((1, 2, 4, 16)))
    return case


def _cut(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    return case[: _place(case, chance)]


def _delete(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    del case[_span(case, chance)]
    return case


def _repeat(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    span = _span(case, chance)
    case[span.stop : span.stop] = case[span] * chance.choice((1, 2, 100))
    return case


def _splice(case: bytearray, chance: random.Random, corpus: Sequence[bytes], _: Any) -> bytearray:
    other = bytearray(chance.choice(corpus))
    return case[: _place(case, chance)] + other[_place(other, chance) :]


def _swap_tokens(case: bytearray, chance: random.Random, _: Any, words: Sequence[bytes]) -> bytearray:
    found = list(_TOKEN.finditer(case))
    if not found:
        return case
    chosen = chance.choice(found)
    # One of its own: such a word stands where such words are known.
    word = chance.choice(found).group() if chance.random() < 0.3 else chance.choice(words)
    return case[: chosen.start()] + bytearray(word) + case[chosen.end() :]


def _lines(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    lines = case.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            del lines[one]
        case 1:
            lines.insert(one, lines[other])
        case _:
            lines[one], lines[other] = lines[other], lines[one]
    return bytearray(b"\n").join(lines)


def _nest(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"- ", b""), (b"(", b")"), (b'"', b'"')))
    depth, place = chance.choice((2, 50, 1100, DEEPEST)), _place(case, chance)
    closed = closing * depth if chance.random() < 0.7 else b""
    return case[:place] + opening * depth + b"1" + closed + case[place:]


def _huge(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    place = _place(case, chance)
    return (
        case[:place]
        + chance.choice((b"x", b"9", b" ", b"\n", b",", b"\xff")) * chance.choice((300, 70_000, 500_000))
        + case[place:]
    )


def _json_value(case: bytearray, chance: random.Random, *_: Any) -> bytearray:
    """Change, delete or copy a value in a document or a line that is JSON."""
    lines = [case] if case[:1] == b"{" and b"\n{" not in case else case.split(b"\n")
    number = chance.randrange(len(lines))
    try:
        content = json.loads(lines[number])
        places = list(_inside(content))
        lines[number] = bytearray(json.dumps(_changed(content, places, chance), ensure_ascii=False).encode())
    except (ValueError, RecursionError):
        return case
    return bytearray(b"\n").join(lines)


def _inside(content: Any) -> list[tuple[Any, Any]]:
    """Return all containers in the content, each with one of its keys or indices."""
    keys = content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    own = [(content, key) for key in keys]
    return own + [place for _, key in own for place in _inside(content[key])]


def _changed(content: Any, places: list[tuple[Any, Any]], chance: random.Random) -> Any:
    if not places:
        return chance.choice(VALUES)
    (holder, key), (other, theirs) = chance.choice(places), chance.choice(places)
    match chance.randrange(4):
        case 0 | 1:
            holder[key] = chance.choice(VALUES)
        case 2:
            del holder[key]
        case _:
            holder[key] = json.loads(json.dumps(other[theirs]))
    return content


MUTATIONS: tuple[Mutation, ...] = (
    *(_flip, _noise, _cut, _delete, _repeat, _splice, _lines, _nest, _huge),
    *(_swap_tokens, _swap_tokens, _swap_tokens, _json_value, _json_value, _json_value),
)
