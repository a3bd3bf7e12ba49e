"""The words of answers and reports, one sentence each: for `h123 explain` and the documentation's glossary."""

import difflib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from h123.base.errors import UserError
from h123.study import METRICS

__all__ = ["Term", "find_terms", "terms"]
MOST_NEAR = 5


@dataclass(frozen=True)
class Term:
    """A word that an answer, a report or a page of the documentation uses."""

    name: str
    kind: str
    """verdict, term, audit, metric, cause, reason or warning."""
    means: str
    words: str = ""
    """How answers say it, if that is not the name."""
    do: str = ""
    """What to do where an answer has it."""
    see: str = ""
    """The page below docs that says more."""


@cache
def terms() -> tuple[Term, ...]:
    """Return all terms, by kind and in the order of the file; metrics are those of the table of metrics."""
    read: dict[str, dict[str, Any]] = yaml.safe_load(files(__package__).joinpath("terms.yaml").read_text("utf-8"))
    written = [
        Term(name, kind, **{"see": _PAGES.get(kind, ""), **fields})
        for kind, entries in read.items()
        for name, fields in entries.items()
    ]
    measured = [
        Term(metric.name, "metric", _sentence(metric.meaning, metric.unit), words=metric.title, see=_METRICS_PAGE)
        for metric in METRICS.values()
    ]
    return (*written, *measured)


def find_terms(text: str) -> list[Term]:
    """Return the terms with this name or these words, whatever their case. Raises UserError that suggests near ones."""
    wanted = _plain(text)
    found = [term for term in terms() if wanted in (_plain(term.name), _plain(term.words))]
    if not found:
        known = {_plain(name): name for term in terms() for name in (term.name, term.words) if name}
        near = difflib.get_close_matches(wanted, known, n=MOST_NEAR, cutoff=0.5)
        near += [plain for plain in known if wanted and wanted in plain and plain not in near]
        suggestion = ", ".join(known[plain] for plain in near[:MOST_NEAR])
        remedy = f"did you mean {suggestion}?" if near else "`h123 explain` without a term lists all of them"
        raise UserError(f"the glossary has no term {text!r}", remedy=remedy)
    return found


_METRICS_PAGE = "contracts/metrics.md"
_PAGES = {"audit": "audits.md", "cause": "why.md", "reason": "contracts/trial.md", "warning": "contracts/trial.md"}


def _plain(text: str) -> str:
    return text.casefold().replace("-", " ").replace("_", " ").strip()


def _sentence(meaning: str, unit: str) -> str:
    return f"{meaning[:1].upper()}{meaning[1:]}, in {unit}."
