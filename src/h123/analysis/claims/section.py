"""Computes the section of verdicts.json on the claims about the campaign's study."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.claims.decisions import decide
from h123.analysis.claims.rows import LedgerDecided
from h123.analysis.section import Section
from h123.study import ledgers_of


class ClaimsPart(TypedDict):
    claims: Sequence[LedgerDecided]
    """The verdicts, one element for each file of claims about the campaign's study."""


def _compute(case: Case) -> ClaimsPart:
    return {"claims": [decide(ledger, case) for ledger in ledgers_of(case.plan.study.name)]}


SECTION = Section(ClaimsPart, _compute)
