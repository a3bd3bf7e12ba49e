"""Judges the comparisons, and adds notes on handshakes, the reasons for late first bytes, and projections."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from h123.analysis.audits.exclusions import exclusions
from h123.analysis.case import Case, once
from h123.analysis.comparisons.comparison import compared
from h123.analysis.comparisons.projection import project
from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.section import Section
from h123.analysis.verdicts.first_bytes import with_reasons
from h123.analysis.verdicts.handshakes import HandshakesPart, HandshakesRow, handshakes, noted
from h123.analysis.verdicts.verdict import judge


class JudgedPart(TypedDict):
    comparisons: Sequence[JudgedComparison]


class QualifiedPart(JudgedPart, HandshakesPart):
    """The comparisons, with the handshakes that their notes mention."""


@once
def judge_case(case: Case) -> list[JudgedComparison]:
    """Return the comparisons with their verdicts, without notes on handshakes and without projections."""
    return judge(compared(case), case.rule, exclusions(case))


@once
def opened(case: Case) -> list[HandshakesRow]:
    """Return a row for each level whose processor time is compared, with the number of its handshakes."""
    return handshakes(case.attempts, judge_case(case), case.factor)


@once
def comparisons(case: Case) -> list[JudgedComparison]:
    return with_reasons(project(noted(judge_case(case), opened(case)), case.rule), case.attempts, case.factor)


def _compute(case: Case) -> QualifiedPart:
    return {"comparisons": comparisons(case), "handshakes": opened(case)}


SECTION = Section(QualifiedPart, _compute)
