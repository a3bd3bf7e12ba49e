"""Collects the data that a campaign's page needs but verdicts.json lacks, from the campaign's folder or from a
published result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np
from pydantic import TypeAdapter, ValidationError

from h123.analysis.results.head import head_of
from h123.analysis.results.publication import published_findings, published_interactions
from h123.analysis.sections import Verdicts
from h123.base.errors import UserError
from h123.documents import fault_of
from h123.documents.result_file import PublishedResult, rounded
from h123.measures import load_attempts
from h123.report.figures.visits import median_visits
from h123.report.look import Mark
from h123.report.page import provenance
from h123.report.page.provenance import InvalidAttempt, LinkRow
from h123.report.quantiles import SHARES, latency_quantiles
from h123.report.text.trust.provenance import place_rows
from h123.report.text.words import listed
from h123.store import CampaignFolder
from h123.study import metric
from h123.study.networks.network import Resolved


@dataclass(frozen=True)
class PageFacts:
    """The data that a page needs in addition to verdicts.json. The data of a published result include no curves of
    single trials and no median visits."""

    name: str
    created: str
    study: Resolved
    networks: Sequence[tuple[str, str]]
    links: Sequence[LinkRow]
    lab_shares: Mapping[str, str]
    invalid: Sequence[InvalidAttempt]
    provenance: Sequence[tuple[str, str]]
    quantiles: Sequence[Mark]
    """The rows of `latency_quantiles`."""
    order: Sequence[tuple[int, Sequence[str]]] = field(default=())
    """The rows of `order_rows`. Empty for a published result."""
    left_out: Sequence[str] = field(default=())
    """What the campaign's own page also shows, in words."""
    visits: Sequence[Mark] = field(default=())
    """The rows of `median_visits`."""

    @classmethod
    def of(cls, folder: CampaignFolder, verdicts: Verdicts) -> Self:
        attempts, events = load_attempts(folder), folder.events()
        return cls(
            name=folder.name,
            created=folder.created,
            study=folder.study,
            networks=[(name, profile["title"]) for name, profile in folder.networks.items()],
            links=provenance.link_rows(attempts),
            lab_shares=provenance.lab_shares(attempts),
            invalid=provenance.invalid_attempts(events),
            order=provenance.order_rows(events, verdicts["factor"]),
            provenance=[*provenance.provenance(folder, attempts), *place_rows(verdicts)],
            quantiles=latency_quantiles(folder),
            visits=median_visits(folder),
        )


_DIGITS = 3
"""The number of significant digits of each quantile, which is small because a curve has many quantiles."""
_PUBLISHED = [0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100]
"""The quantiles that a published result keeps, in percent: those that figures mark, and enough others for a curve."""
_LEFT_OUT = {
    "order": "the order in which the trials of each block ran",
    "curves": "the curves of single trials behind the distributions",
    "visits": "the median visit of each page, request by request",
    "interactions": "interactions of metrics other than {answers}, or with several other factors",
    "findings": "most of the trials in which an audit failed; the summary counts them",
    "processor": "processor times that the study does not compare",
}


def published_facts(folder: CampaignFolder, verdicts: Verdicts) -> Mapping[str, Any]:
    """Return the data that a published result keeps, ready for JSON."""
    facts = PageFacts.of(folder, verdicts)
    pooled = [row for row in facts.quantiles if row["trial"] is None]
    compare = folder.study["compare"]
    answers = compare["families"][0]["metrics"]
    compared = {row["metric"] for row in (*verdicts["comparisons"], *compare.get("charts", []))}
    measured = {name for row in verdicts["values"] for name, value in row["metrics"].items() if value is not None}
    missing = {
        "order": bool(facts.order),
        "curves": len(pooled) < len(facts.quantiles),
        "visits": bool(facts.visits),
        "interactions": published_interactions(verdicts, answers) != verdicts["interactions"],
        "findings": len(published_findings(verdicts)) < sum(not finding["passed"] for finding in verdicts["audits"]),
        "processor": any(name.startswith("cpu") for name in measured - compared),
    }
    names = listed([metric(name).title.lower() for name in answers], "and")
    content: dict[str, Any] = _model().dump_python(
        facts, mode="json", exclude={"study", "order", "visits", "quantiles"}
    )
    return {
        **content,
        "quantiles": [_in_steps(row) for row in pooled],
        "left_out": [_LEFT_OUT[part].format(answers=names) for part, is_gone in missing.items() if is_gone],
    }


def facts_of(result: PublishedResult, page: Mapping[str, Any]) -> PageFacts:
    """Return the data of a published result. `page` is the content of the result's last line. Raises UserError if
    `page` does not have the form that h123 writes."""
    try:
        quantiles = [_in_seconds(row) for row in page["quantiles"]]
        return _model().validate_python({**page, "quantiles": quantiles, "study": head_of(result)["campaign"].study})
    except ValidationError as invalid:
        raise UserError(f"{result.place} is not as h123 writes it: {fault_of(invalid)}") from None
    except (KeyError, TypeError, ValueError) as wrong:
        raise UserError(f"{result.place} is not as h123 writes it: its quantiles: {wrong}") from None


def _in_steps(row: Mark) -> Mark:
    """Return the row with the difference between each published quantile and the one before, which compresses
    well."""
    kept = [row["seconds"][percent] for percent in _PUBLISHED]
    times = [0, *(round(1e9 * seconds) for seconds in rounded(kept, _DIGITS))]
    steps = [after - before for before, after in pairwise(times)]
    return {**{name: part for name, part in row.items() if name != "seconds"}, "steps_ns": steps}


def _in_seconds(row: Mark) -> Mark:
    """Return the row with all quantiles. Those that were not published are interpolated. Raises TypeError or
    ValueError if the row does not have as many quantiles as are published."""
    times = [time / 1e9 for time in accumulate(row["steps_ns"])]
    seconds = np.interp(SHARES, [percent / 100 for percent in _PUBLISHED], times).tolist()
    return {**{name: part for name, part in row.items() if name != "steps_ns"}, "seconds": seconds}


@cache
def _model() -> TypeAdapter[PageFacts]:
    return TypeAdapter(PageFacts)
