"""Explains each term in answers and reports in one sentence, for `h123 explain` and the documentation's glossary."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from h123.base.errors import UserError
from h123.causes import WORDS
from h123.study import METRICS

__all__ = ["Term", "find_terms", "terms"]
MOST_NEAR = 5
_NEAR = 0.75
"""The smallest similarity, by difflib, at which a term is suggested."""
_MISSPELT = 0.9
"""The smallest similarity at which input counts as a single misspelled term rather than a longer text."""
_LEAST_INSIDE = 4
"""The shortest name, in characters, to look for within a longer text."""


@dataclass(frozen=True)
class Term:
    """A term that occurs in an answer, a report or the documentation."""

    name: str
    kind: str
    """The kind: verdict, term, sign, audit, metric, cause, reason or warning."""
    means: str
    words: str = ""
    """The form of the term in answers, if that is not the name."""
    also: tuple[str, ...] = ()
    do: str = ""
    """Advice if the term appears in an answer."""
    see: str = ""
    """The page in `docs/` that explains more."""

    @property
    def names(self) -> list[str]:
        return [name for name in (self.name, self.words, *self.also) if name]


@cache
def terms() -> tuple[Term, ...]:
    """Return all terms, by kind and in the order of the file. Metrics come from the table of metrics."""
    read: dict[str, dict[str, Any]] = yaml.safe_load(files(__package__).joinpath("terms.yaml").read_text("utf-8"))
    written = [
        _written(name, kind, **{"see": _PAGES.get(kind, ""), **fields})
        for kind, entries in read.items()
        for name, fields in entries.items()
    ]
    measured = [
        Term(metric.name, "metric", _sentence(metric.meaning, metric.unit), words=metric.title, see=_METRICS_PAGE)
        for metric in METRICS.values()
    ]
    return (*written, *measured)


def _written(name: str, kind: str, also: Sequence[str] = (), **fields: str) -> Term:
    return Term(name, kind, words=WORDS[name] if kind == "cause" else "", also=tuple(also), **fields)


def find_terms(text: str) -> list[Term]:
    """Return the terms with exactly this name. If there are none, return the terms whose names contain the text or,
    failing that, the terms whose names appear in it (the text may be a line of an answer). Case, hyphens and articles
    make no difference. Raises UserError with suggestions if nothing matches."""
    wanted = _plain(text)
    names = [(term, _plain(name)) for term in terms() for name in term.names]
    found = [term for term, name in names if name == wanted]
    found = found or [term for term, name in names if f" {wanted} " in f" {name} "]
    known = {_plain(name): name for term in terms() for name in term.names}
    near = difflib.get_close_matches(wanted, known, n=MOST_NEAR, cutoff=_NEAR)
    if not found and not difflib.get_close_matches(wanted, near, cutoff=_MISSPELT):
        found = list(_terms_inside(wanted, names))
    if not found or not wanted:
        suggestion = ", ".join(known[plain] for plain in near)
        remedy = f"did you mean {suggestion}?" if near else "`h123 explain` without a term lists all of them"
        raise UserError(f"the glossary has no term {text!r}", remedy=remedy)
    return list(dict.fromkeys(found))[:MOST_NEAR]


def _terms_inside(text: str, names: Sequence[tuple[Term, str]]) -> Iterator[Term]:
    """Yield the terms whose names appear in a longer text, longest names first. No word of the text matches two
    names."""
    rest = f" {text} "
    for term, name in sorted(names, key=lambda pair: -len(pair[1])):
        if len(name) >= _LEAST_INSIDE and f" {name} " in rest:
            rest = rest.replace(f" {name} ", " | ")
            yield term


_METRICS_PAGE = "contracts/metrics.md"
_PAGES = {"audit": "audits.md", "cause": "why.md", "reason": "contracts/trial.md", "warning": "contracts/trial.md"}
_ARTICLES = ("a", "an", "the")


def _plain(text: str) -> str:
    """Normalise a string: lower case, single spaces, no punctuation, no leading article, no plural `s`. A sign stays as
    it is."""
    words = [word.strip("(),.:;") for word in re.sub(r"[-_\s]+", " ", text.casefold()).split()]
    if len(words) > 1 and words[0] in _ARTICLES:
        del words[0]
    return " ".join(map(_singular, words)) or text.strip()


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _sentence(meaning: str, unit: str) -> str:
    return f"{meaning[:1].upper()}{meaning[1:]}, in {unit}."
