"""Builds the common parts of error messages: excerpts of the user's text, and lists of allowed words."""

import datetime as dt
import difflib
import reprlib
from collections.abc import Iterable, Sequence

MOST_CHOICES = 100
"""The largest number of choices that a message lists."""
_MANY = 20
"""The largest number of choices that a message lists after a suggestion."""


class _Short(reprlib.Repr):
    """A formatter that writes values as people do, and shortens them to fit on one line."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxlong, self.maxother = 3, 100, 100, 100

    def repr_date(self, value: dt.date, _level: int) -> str:
        return str(value)

    repr_datetime = repr_date

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to print integers with thousands of digits.
        return super().repr_int(value, level) if value.bit_length() < 1000 else "a huge number"


_SHORT = _Short()


def excerpt(value: object) -> str:
    """Return the value as an error message quotes it, shortened if it is long or deeply nested."""
    return _SHORT.repr(value)


def choose(word: object, allowed: Iterable[object]) -> str:
    """Return a hint on what to write instead of `word`: a similar allowed word, if any, and all allowed words. If there
    is a similar word, a long list is left out."""
    names = [str(name) for name in allowed]
    close = nearest(word, names)
    if close and len(names) > _MANY:
        return f"did you mean {close}?"
    if len(names) > MOST_CHOICES:
        names = [*names[:MOST_CHOICES], "..."]
    hint = f"did you mean {close}? The" if close else "the"
    if not names:
        return "there are none to choose from"
    return f"{hint} choices are {', '.join(names)}" if len(names) > 1 else f"the only choice is {names[0]}"


def nearest(word: object, names: Sequence[str]) -> str | None:
    """Return the name that `word` is probably a misspelling or the singular of, or None."""
    written = str(word)[:100]
    if (plural := f"{written.removesuffix('y')}ies") in names:
        return plural
    near = difflib.get_close_matches(written, names, n=3)
    return next((name for name in near if _edits(written, name) <= _slips(written)), None)


def _slips(word: str) -> int:
    """Return how many letters of a word may be wrong, missing or extra before it counts as a different word."""
    return 1 if len(word) < 4 else 2 if len(word) < 12 else 3


def _edits(one: str, other: str) -> int:
    """Return the number of letters to replace, insert or delete to turn one word into the other (Levenshtein's
    distance)."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
    return row[-1]
