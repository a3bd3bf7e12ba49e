"""The parts that complaints share: quotes of the user's text, and lists of possible replacements."""

import datetime as dt
import difflib
import reprlib
from collections.abc import Iterable

MOST_CHOICES = 100
"""A complaint lists at most this many choices."""


class _Short(reprlib.Repr):
    """A value as people write it, shortened to one line."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxlong, self.maxother = 3, 100, 100, 100

    def repr_date(self, value: dt.date, _level: int) -> str:
        return str(value)

    repr_datetime = repr_date

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to write those with thousands of digits.
        return super().repr_int(value, level) if value.bit_length() < 1000 else "a huge number"


_SHORT = _Short()


def excerpt(value: object) -> str:
    """A value as a complaint quotes it, however long or deep it is."""
    return _SHORT.repr(value)


def choose(word: object, allowed: Iterable[object]) -> str:
    """Suggest what may replace `word`: a near miss if there is one, and the list of allowed words."""
    names = [str(name) for name in allowed]
    close = difflib.get_close_matches(str(word)[:100], names, n=1)
    if len(names) > MOST_CHOICES:
        names = [*names[:MOST_CHOICES], "..."]
    hint = f"did you mean {close[0]}? The" if close else "the"
    if not names:
        return "there are none to choose from"
    return f"{hint} choices are {', '.join(names)}" if len(names) > 1 else f"the only choice is {names[0]}"
