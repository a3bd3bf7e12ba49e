"""Lists facts that are unknown because samples were imported. The report shows them next to the answer, so that readers
do not overrate the answer."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.comparisons.failures import shares
from h123.analysis.comparisons.projection import fewest_blocks
from h123.analysis.comparisons.rows import JudgedComparison, headline
from h123.analysis.section import Section
from h123.analysis.statistics.rule import Rule
from h123.analysis.verdicts.judgement import comparisons
from h123.documents.campaign_file import ImportFacts
from h123.measures import Attempt


class OriginCosts(ImportFacts):
    costs: Sequence[str]
    """Sentences about facts that are unknown because the samples were imported."""


def costs(imported: ImportFacts, case: Case, comparisons: Sequence[JudgedComparison]) -> list[str]:
    """Return sentences about what is unknown in an imported campaign. `comparisons` come from verdicts.json."""
    attempts = case.trials.attempts
    files = ", ".join(file["name"] for file in imported["files"])
    lines = [
        f"imported from {files}: {imported['requests']} requests in {imported['runs']} trials, not measured by h123"
    ]
    if not imported["blocks"]:
        lines.append(_without_blocks(imported, attempts, comparisons, case.rule))
    lines += shares(case).survivors.lines(case.plan.study.compare.factor)
    lines += _redirects(imported)
    without = "" if any(attempt.tls_versions for attempt in attempts) else "TLS, "
    lines.append(
        f"not recorded, so not checked: link check, packets, lateness of the link, CPU, {without}congestion control"
    )
    if not imported["timed"]:
        lines.append(
            "it is not known when requests began, so there is no goodput, and no audit that needs the run's length"
        )
    if not imported["ordered"]:
        lines.append("the order of the trials is not known, so no audit can show whether it favoured a treatment")
    if unknown := [name for name in imported["unknown"] if name in _WORTH_KNOWING]:
        lines.append(f"not known: {', '.join(unknown)}; audits that need them are skipped")
    return lines


def _redirects(imported: ImportFacts) -> list[str]:
    counts = imported.get("redirects")
    if not counts or not counts["answers"]:
        return []
    count = f"{counts['answers']} {'response was a redirect' if counts['answers'] == 1 else 'responses were redirects'}"
    if counts["left_out"]:
        return [f"{count} and left out; `h123 import --redirects failed` counts them as failed requests"]
    return [f"{count}, which count as failed requests; `h123 import --redirects left-out` leaves them out"]


_WORTH_KNOWING = ("server", "client", "network", "method", "size", "users", "requests", "connections")


def _without_blocks(
    imported: ImportFacts, attempts: Sequence[Attempt], comparisons: Sequence[JudgedComparison], rule: Rule
) -> str:
    treatments = len({tuple(sorted(attempt.cell.items())) for attempt in attempts})
    runs = f" ({imported['runs']} runs of {treatments} treatments; each treatment counts with the median of its runs)"
    reason = "no blocks: nothing says which runs were measured side by side" + (
        runs if imported["runs"] > treatments else ""
    )
    needed = fewest_blocks(headline(comparisons), rule.looks.next_level(rule.alpha))
    cure = f"; {needed} blocks would be needed, each with every treatment once" if comparisons else ""
    return f"{reason}, so no interval and no verdict is possible{cure}. Requests of one run are not independent trials"


class OriginPart(TypedDict):
    origin: OriginCosts | None
    """The origin of imported samples; null for a campaign that h123 ran."""


def _compute(case: Case) -> OriginPart:
    imported = case.facts.imported
    return {"origin": {**imported, "costs": costs(imported, case, comparisons(case))} if imported else None}


SECTION = Section(OriginPart, _compute)
