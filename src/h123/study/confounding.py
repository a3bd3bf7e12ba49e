"""Finds confounded parameters: parameters that the levels of a factor change only together, so that their effects
cannot be separated."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence

from h123.study.study import Study

_LABELS = {"capture", "port", "qlog", "timeout", "trial_timeout"}
"""Parameters that do not influence any result."""


def confounded_parameters(study: Study, levels: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the factor's name and the parameters of each group that the given levels of the factor always change
    together."""
    for factor, names in levels.items():
        settings = [study.factors[factor][name] for name in names]
        changed = sorted({name for level in settings for name in level} - _LABELS)
        columns = {name: [str(level.get(name)) for level in settings] for name in changed}
        for names_together in together(columns):
            yield factor, names_together


def together(columns: Mapping[str, Sequence[Hashable]]) -> Iterator[list[str]]:
    """Yield groups of column names. The columns of a group vary, and they all change in the same rows."""
    patterns: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, column in columns.items():
        patterns[tuple(column.index(value) for value in column)].append(name)
    for pattern, names in patterns.items():
        if any(pattern) and len(names) > 1:
            yield names


def confounded_note(factor: str, names: Sequence[str]) -> str:
    """Return the warning about confounded parameters for plans and reports."""
    listing = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"levels of {factor} change {listing} together: which of them makes a difference cannot be known"
