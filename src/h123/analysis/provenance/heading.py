"""Computes the head of verdicts.json: the campaign, its question, and how strictly it is judged."""

from typing import Literal

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section
from h123.base.terminal.redaction import hidden


class HeadingPart(TypedDict):
    h123: Literal["verdicts/1"]
    campaign: str
    study: str
    question: str
    factor: str
    """The compared factor."""
    margin: float
    """The study's equivalence margin, as a share."""
    alpha: float
    """The significance level across all looks."""
    seed: int


def _compute(case: Case) -> HeadingPart:
    return {
        "h123": "verdicts/1",
        "campaign": case.facts.name,
        "study": case.plan.study.name,
        "question": hidden(case.plan.study.question),
        "factor": case.factor,
        "margin": case.rule.margin,
        "alpha": case.rule.alpha,
        "seed": case.facts.seed,
    }


SECTION = Section(HeadingPart, _compute)
