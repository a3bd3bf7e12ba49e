"""Writes sentences about subjects whose verification had not passed when the campaign began."""

from collections.abc import Sequence

from h123.analysis.provenance.unverified_subjects import UnprovedPart, UnprovedRow
from h123.report.text.words import listed

_NAMED = 3
_SAID = {"changed": "changed since it was verified", "none": "never verified"}


def failed_lines(verdicts: UnprovedPart) -> list[str]:
    """Return sentences, to show before any answer, about subjects that were measured although their verification
    failed."""
    return [_failed(row) for row in _rows(verdicts) if row["outcome"] == "failed"]


def unproved_lines(verdicts: UnprovedPart) -> list[str]:
    """Return sentences for the summary about subjects whose files were not verified."""
    sentences = []
    for outcome, words in _SAID.items():
        if names := [f"{row['subject']} as a {row['role']}" for row in _rows(verdicts) if row["outcome"] == outcome]:
            names_text = listed(names, "and")
            sentences.append(f"{words}, so it may not do what it declares (`h123 verify NAME`): {names_text}")
    if own := [row["subject"] for row in _rows(verdicts) if row["outcome"] == "own"]:
        sentences.append(
            f"the study's own, verified for measuring, not for the catalogue: {listed(own, 'and')}; the connections "
            "that are measured do not check its certificate"
        )
    return sentences


def _rows(verdicts: UnprovedPart) -> Sequence[UnprovedRow]:
    rows: Sequence[UnprovedRow] = verdicts.get("unproved", [])
    return rows


def _failed(row: UnprovedRow) -> str:
    checks = row["failed"]
    checks_text = ", ".join(checks[:_NAMED]) + (", ..." if len(checks) > _NAMED else "")
    return (
        f"{row['subject']} failed its verification as a {row['role']} ({checks_text}) and was measured all the same "
        "(--allow-unverified): what it did may not be what the study asks for. `h123 list subjects "
        f"{row['subject']}` says what was seen."
    )
