"""report.html: one file that opens offline, and the figures beside it."""

from pathlib import Path

from h123.analysis import headline, read_verdicts
from h123.analysis.sections import Verdicts
from h123.base.files.durable import write_atomically
from h123.measures import load_attempts
from h123.report.figures.drawing import Figure, inline, save
from h123.report.figures.printed import printed_figure
from h123.report.figures.ratios import by_ratio
from h123.report.page import provenance
from h123.report.page.contents import with_contents
from h123.report.page.figures import FigureSources, drawn
from h123.report.page.template import template
from h123.report.text import as_published, capacity, claims, difference, ladder, words
from h123.report.text.advice import advice
from h123.report.text.answer import answers, cold, findings, no_answer
from h123.report.text.constant_factors import common, common_line, without
from h123.report.text.explanations import causes, decomposition
from h123.report.text.explanations.reasons import reason_lines
from h123.report.text.explanations.windows import window_lines
from h123.report.text.headline import headline_sentences
from h123.report.text.outcomes import outcomes
from h123.report.text.printed import PrintedTable, nothing_printed, printed_side, printed_table, side_beside
from h123.report.text.sections import first_lines, trust
from h123.report.text.trust import caveats
from h123.report.text.trust.gate import gate_lines
from h123.report.text.trust.places import place_rows
from h123.store import CampaignFolder


def write_report(folder: CampaignFolder, beside: Path | None = None) -> Path:
    """Write report.html and figures/ from verdicts.json and the campaign's files; returns the page's path.

    `beside`: another campaign's folder, whose values stand beside the paper's printed ones too; it is only read.
    Raises UserError where the campaign has not been analysed, or the other cannot stand beside it.
    """
    verdicts = read_verdicts(folder)
    printed = _printed(folder, verdicts, beside)
    same = common(verdicts)
    setting = FigureSources(folder, whole=verdicts, verdicts=without(verdicts, same), same=same)
    verdicts, figures = setting.verdicts, _figures(setting)
    if printed and (values_figure := printed_figure(printed)):
        figures.append(values_figure)
    for figure in figures:
        save(figure, folder.path / "figures")
    page = folder.path / "report.html"
    content = _content(folder, verdicts, figures, printed)
    rendered = template("h123.report.page", "page.html.j2").render(**content, throughout=common_line(same))
    write_atomically(page, with_contents(rendered))
    return page


def _printed(folder: CampaignFolder, verdicts: Verdicts, beside: Path | None) -> PrintedTable | None:
    side = printed_side(folder, verdicts)
    if side is None:
        if beside is not None:
            raise nothing_printed(folder)
        return None
    return printed_table(side, side_beside(folder, beside) if beside is not None else None)


def _figures(setting: FigureSources) -> list[Figure]:
    """The pictures that the data allow."""
    return list(drawn(setting))


def _content(
    folder: CampaignFolder, verdicts: Verdicts, figures: list[Figure], printed: PrintedTable | None
) -> dict[str, object]:
    """Everything that the template shows."""
    comparisons = [c for c in verdicts["comparisons"] if not c["twin"]]
    attempts, events = load_attempts(folder), folder.events()
    named = {figure.name: figure for figure in figures}
    return {
        "verdicts": verdicts,
        "created": folder.created,
        "answer_tables": answers(verdicts),
        "no_answer": no_answer(verdicts),
        "cold": findings(cold(verdicts)),
        "answers": headline(comparisons),
        "outcomes": list(outcomes(headline(comparisons), verdicts["margin"])),
        "advice": advice(verdicts),
        "headline": headline_sentences(headline(comparisons)),
        "comparisons": comparisons,
        "twins": [c for c in verdicts["comparisons"] if c["twin"]],
        "gate_lines": gate_lines(verdicts),
        "first": first_lines(verdicts),
        "doubts": _doubts(verdicts),
        "trust": trust(verdicts),
        "windows": window_lines(verdicts),
        "why": causes.cause_rows(verdicts),
        "reasons": reason_lines(verdicts),
        "causes": causes,
        "answer_figure": named.pop("answer", None),
        "causes_figure": named.pop("causes", None),
        "printed_figure": named.pop("printed-values", None),
        "split_figure": named.pop("parts", None),
        "capacity_figures": [named.pop(name) for name in list(named) if name.startswith("capacity-")],
        "published_figures": [named.pop(name) for name in list(named) if name.startswith("published-")],
        "figures": list(named.values()),
        "networks": [(name, profile["title"]) for name, profile in folder.networks.items()],
        "links": provenance.link_rows(attempts),
        "lab_shares": provenance.lab_shares(attempts),
        "invalid": provenance.invalid_attempts(events),
        "order": provenance.order_rows(events, verdicts["factor"]),
        "provenance": provenance.provenance(folder, attempts) + place_rows(verdicts),
        "failures": [finding for finding in verdicts["audits"] if not finding["passed"]],
        "words": words,
        "difference": difference,
        "confidence": difference.confidence([*headline(comparisons), *findings(cold(verdicts))]),
        "ladder": ladder,
        "capacity": capacity,
        "split": decomposition,
        "as_published": as_published,
        "printed": printed,
        "claims": claims,
        "caveats": caveats,
        "by_ratio": by_ratio,
        "inline": inline,
    }


def _doubts(verdicts: Verdicts) -> list[str]:
    """What must stand on the first screen, below the answer: holes in the campaign and audits that failed."""
    trials = verdicts["trials"]
    missing = f"{trials['missing']} of {trials['planned']} trials have no valid attempt yet."
    failed = [f"Audit {row['audit']} failed: {row['failure']}" for row in verdicts["audit_summary"] if row["failed"]]
    return [*([missing] if trials["missing"] else []), *failed]
