"""Detects confounding: parameters that change together among the trials, so that any of them may explain a
difference."""

from collections.abc import Iterable, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.measures import Attempt
from h123.study import Plan, confounded_parameters, together


class ConfoundedRow(TypedDict):
    """A set of parameters that change together between the levels of a factor, or a set of factors whose levels change
    together."""

    factor: str | None
    """The factor. Null if factors themselves change together (in imported trials)."""
    together: Sequence[str]
    """The names of the parameters that change together between the factor's levels, or of the factors that change
    together."""


def confounding(attempts: Iterable[Attempt], plan: Plan) -> list[ConfoundedRow]:
    """Return the `confounded` part of verdicts.json: factors whose levels change several parameters together, and, in
    imported trials, factors whose levels change together."""
    levels = {factor: list(dict.fromkeys(t.cell[factor] for t in plan.blocks[0])) for factor in plan.study.factors}
    rows: list[ConfoundedRow] = [
        {"factor": factor, "together": names} for factor, names in confounded_parameters(plan.study, levels)
    ]
    cells = [attempt.cell for attempt in attempts if attempt.imported]
    columns = {factor: [cell[factor] for cell in cells] for factor in levels}
    return rows + [{"factor": None, "together": names} for names in together(columns)]


class ConfoundedPart(TypedDict):
    confounded: NotRequired[Sequence[ConfoundedRow]]


def _compute(case: Case) -> ConfoundedPart:
    return {"confounded": confounding(case.attempts, case.plan)}


SECTION = Section(ConfoundedPart, _compute)
