"""report.html: one file that opens offline, and the figures beside it."""

from pathlib import Path

from h123.analysis import read_verdicts
from h123.analysis.sections import Verdicts
from h123.base.files.durable import write_atomically
from h123.report.figures.drawing import save
from h123.report.page.contents import with_contents
from h123.report.page.figures import section_figures
from h123.report.page.parts import BODY, HEAD, page_parts
from h123.report.page.sources import PageSources
from h123.report.page.template import template
from h123.report.text.constant_factors import common, common_line, without
from h123.report.text.printed import PrintedTable, nothing_printed, printed_side, printed_table, side_beside
from h123.store import CampaignFolder


def write_report(folder: CampaignFolder, beside: Path | None = None) -> Path:
    """Write report.html and figures/ from verdicts.json and the campaign's files; returns the page's path.

    `beside`: another campaign's folder, whose values stand beside the paper's printed ones too; it is only read.
    Raises UserError where the campaign has not been analysed, or the other cannot stand beside it.
    """
    verdicts = read_verdicts(folder)
    printed = _printed(folder, verdicts, beside)
    same = common(verdicts)
    sources = PageSources(folder, whole=verdicts, verdicts=without(verdicts, same), same=same, printed=printed)
    figures = section_figures(sources)
    for figure in (one for group in figures.values() for one in group):
        save(figure, folder.path / "figures")
    page = folder.path / "report.html"
    text = template("h123.report.page", "page.html.j2").render(
        verdicts=sources.verdicts,
        created=folder.created,
        throughout=common_line(same),
        head=list(page_parts(HEAD, sources, figures)),
        body=list(page_parts(BODY, sources, figures)),
    )
    write_atomically(page, with_contents(text))
    return page


def _printed(folder: CampaignFolder, verdicts: Verdicts, beside: Path | None) -> PrintedTable | None:
    side = printed_side(folder, verdicts)
    if side is None:
        if beside is not None:
            raise nothing_printed(folder)
        return None
    return printed_table(side, side_beside(folder, beside) if beside is not None else None)
