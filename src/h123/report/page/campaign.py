"""Writes report.html, one file that opens offline, and the folder with its figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from h123.analysis import read_verdicts
from h123.analysis.results.publication import published_verdicts
from h123.analysis.sections import Verdicts
from h123.base.extras import REPORT
from h123.base.files.durable import write_atomically
from h123.documents.result_file import PublishedResult
from h123.report.page.facts import PageFacts, facts_of
from h123.report.page.parts import BODY, HEAD, page_parts
from h123.report.page.sources import PageSources, empty_last
from h123.report.page.template import template, with_contents
from h123.report.text.constant_factors import common, common_line, without
from h123.report.text.printed_values import PrintedTable, nothing_printed, open_other_side, printed_side, printed_table
from h123.store import CampaignFolder

if TYPE_CHECKING:
    from h123.report.figures.drawing import Figure


def write_report(
    folder: CampaignFolder,
    other_campaign: Path | None = None,
    verdicts: Verdicts | None = None,
    out: Path | None = None,
) -> Path:
    """Write report.html and figures/ from verdicts.json and the campaign's files, and return the page's path.

    `other_campaign` is the folder of a second campaign, which is only read. The page shows that campaign's values next
    to the values published in a paper. `verdicts` replaces the content of verdicts.json. `out` is a different folder to
    write to. Raises UserError if the campaign has not been analysed, or if the two campaigns cannot be compared.
    """
    verdicts, out = verdicts or read_verdicts(folder), out or folder.path
    sources = _sources(PageFacts.of(folder, verdicts), verdicts, _printed(folder, verdicts, other_campaign))
    figures = _drawn(sources)
    if figures:
        from h123.report.figures.drawing import save  # imported here, because the drawing library may be missing

        for figure in (figure_of_section for group in figures.values() for figure_of_section in group):
            save(figure, out / "figures")
    out.mkdir(parents=True, exist_ok=True)
    page = out / "report.html"
    write_atomically(page, _rendered(sources, figures))
    return page


def result_page(result: PublishedResult) -> str:
    """Return the page for a published result. Raises UserError if the result is damaged."""
    verdicts, page = published_verdicts(result)
    facts = facts_of(result, page)
    side = printed_side(facts.study, facts.name, verdicts)
    sources = _sources(facts, verdicts, printed_table(side) if side else None)
    return _rendered(sources, _drawn(sources))


def _sources(facts: PageFacts, verdicts: Verdicts, printed: PrintedTable | None) -> PageSources:
    same, verdicts = common(verdicts), empty_last(verdicts)
    return PageSources(facts, whole=verdicts, verdicts=without(verdicts, same), same=same, printed=printed)


def _drawn(sources: PageSources) -> "Mapping[type, Sequence[Figure]]":
    """Return the figures by section; empty if the drawing library is not installed."""
    if REPORT.lacking("Figures"):
        return {}
    from h123.report.page.figures import section_figures

    return section_figures(sources)


def _rendered(sources: PageSources, figures: "Mapping[type, Sequence[Figure]]") -> str:
    text = template("h123.report.page", "page.html.j2").render(
        verdicts=sources.verdicts,
        created=sources.facts.created,
        throughout=common_line(sources.same),
        head=list(page_parts(HEAD, sources, figures)),
        body=list(page_parts(BODY, sources, figures)),
    )
    return with_contents(text)


def _printed(folder: CampaignFolder, verdicts: Verdicts, path: Path | None) -> PrintedTable | None:
    side = printed_side(folder.study, folder.name, verdicts)
    if side is None:
        if path is not None:
            raise nothing_printed(folder)
        return None
    return printed_table(side, open_other_side(folder, path) if path is not None else None)
