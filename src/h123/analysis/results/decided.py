"""Decides claims from the published results (docs/results/data.tar.xz), using the verdicts of each campaign's analysis.

A result decides a claim if it contains the claim's figures, the claim was the same at the time of the analysis, and the
claim's treatments have not changed since they ran. The verdict may be that the audits allow no conclusion. If several
results qualify, the one with the largest scale decides; if there are several of those, the one with the most blocks,
and then the latest. The choice does not depend on what a result found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from h123.analysis.claims.decisions import OPEN, decide
from h123.documents.result_file import PublishedResult
from h123.study import ALL_LEVELS, Claim, Ledger, MeasurableClaim, Study, find_study, load_study

if TYPE_CHECKING:
    from h123.analysis.claims.rows import ClaimRow, LedgerDecided

_QUESTION = ("metric", "a", "b", "direction", "condition", "against", "size")
_ANSWER = ("verdict", "reason", "requests", "blocks", "p", "p_adjusted", "figures", "repeats")
_CHOSEN_BY_RUN = ("clock",)
"""Settings that options of `run` choose and that claims leave open. The answer names them."""


@dataclass(frozen=True)
class Decided:
    """A ledger with its verdicts, and the result behind each verdict."""

    ledger: "LedgerDecided"
    by: Mapping[str, PublishedResult] = field(default_factory=dict)
    """The deciding results, by claim id."""


def decide_by_results(
    ledger: Ledger, results: Sequence[PublishedResult], own: "LedgerDecided | None" = None
) -> Decided:
    """Decide the claims of a ledger from published results. `own` contains the verdicts of the user's own campaign,
    which take precedence. Raises UserError if a result is damaged."""
    base = own or decide(ledger)
    mine = [result for result in results if result.campaign["study"]["name"] == ledger.study]
    study = load_study(find_study(ledger.study)) if ledger.study and mine else None
    by, rows = dict[str, PublishedResult](), list["ClaimRow"]()
    for claim, row in zip(ledger.claims, base["claims"], strict=True):
        if isinstance(claim, MeasurableClaim) and not row["figures"]:
            row, result = _decided(claim, row, mine, study, ledger.study)
            by |= {claim.id: result} if result else {}
        rows.append(row)
    return Decided({**base, "claims": rows}, by)


def _decided(
    claim: MeasurableClaim, row: "ClaimRow", results: Sequence[PublishedResult], study: Study | None, name: str | None
) -> "tuple[ClaimRow, PublishedResult | None]":
    results_by_claim, lacking = list[tuple["ClaimRow", PublishedResult]](), list[str]()
    for result in results:
        theirs = _row(result, claim)
        if theirs is None:
            lacking.append(f"the published {result.name} did not measure it")
        elif any(theirs[key] != row[key] for key in _QUESTION):  # type: ignore[literal-required]
            lacking.append(f"{result.name} was analysed when the claim was different")
        elif study and (changed := _changed(result, claim, study)):
            lacking.append(f"since {result.name} ran, the study's {changed} has changed")
        else:
            results_by_claim.append((theirs, result))
    if not results_by_claim:
        if row["verdict"] != OPEN:  # a campaign of the reader's own says why not
            return row, None
        why = "; ".join(lacking) or f"no campaign of study {name} is published"
        return {**row, "reason": f"{row['reason']} ({why})"}, None
    theirs, result = max(results_by_claim, key=lambda result_pair: _weight(*result_pair))
    answer = {key: theirs[key] for key in _ANSWER}  # type: ignore[literal-required]
    return {**row, **answer}, result  # type: ignore[typeddict-item]


def _weight(row: "ClaimRow", result: PublishedResult) -> tuple[float, int, str]:
    campaign = result.campaign
    return campaign["study"].get("scale", 1.0), row["blocks"] or 0, campaign["created"]


def _row(result: PublishedResult, claim: Claim) -> "ClaimRow | None":
    return next((row for ledger in result.head["claims"] for row in ledger["claims"] if row["id"] == claim.id), None)


def _changed(result: PublishedResult, claim: MeasurableClaim, study: Study) -> str | None:
    """Return what changed in the claim's treatments since they ran, or None. Settings that exist in only one of the two
    versions of the study are ignored."""
    campaign = result.campaign
    then, now = campaign["study"], study.scaled(campaign["study"].get("scale", 1.0))
    sets = now.model_dump(mode="json", include={"factors", "settings", "compare"})
    settings = {name: value for name, value in then["settings"].items() if name not in _CHOSEN_BY_RUN}
    if name := _unlike(settings, sets["settings"]):
        return f"setting {name!r}"
    levels = [*_levels(claim, study), *((study.compare.factor, level) for level in (claim.a, claim.b) if level)]
    for factor, level in levels:
        if _unlike(then["factors"].get(factor, {}).get(level, {}), sets["factors"][factor][level]):
            return f"level {level!r} of {factor!r}"
    for name, profile in campaign["networks"].items():
        if name in study.networks and study.networks[name].resolved() != profile:
            return f"network {name!r}"
    return None


def _levels(claim: MeasurableClaim, study: Study) -> list[tuple[str, str]]:
    conditions = [*claim.cells.items(), *(claim.against or {}).items()]
    return [
        (factor, level)
        for factor, levels in conditions
        for level in (study.factors[factor] if levels == [ALL_LEVELS] else levels)
    ]


def _unlike(then: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    return next((name for name, value in then.items() if name in now and now[name] != value), None)
