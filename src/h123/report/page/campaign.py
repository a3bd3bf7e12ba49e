"""report.html: one file that opens offline, and the figures beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from h123.analysis import headline, read_verdicts
from h123.base.files.durable import write_atomically
from h123.measures import load_attempts
from h123.report.figures.as_published import published_figures
from h123.report.figures.averages import averages_figures
from h123.report.figures.bars import bars_figures
from h123.report.figures.capacity import capacity_figures
from h123.report.figures.causes import causes_figure
from h123.report.figures.completion import completion_figure
from h123.report.figures.decomposition import split_figure
from h123.report.figures.distribution import distribution_figure, latency_quantiles
from h123.report.figures.drawing import Figure, Mark, inline, save
from h123.report.figures.printed import printed_figure
from h123.report.figures.ratios import answer_figure, by_ratio, details_figure
from h123.report.figures.spread import cpu_figure, requests_figure, treatments, trials_figure
from h123.report.figures.visits import median_visits
from h123.report.figures.waterfalls import waterfalls_figure
from h123.report.page import provenance
from h123.report.page.contents import with_contents
from h123.report.page.template import template
from h123.report.terminal import trust
from h123.report.text import as_published, capacity, claims, difference, ladder, words
from h123.report.text.advice import advice
from h123.report.text.answer import answers, cold, findings, no_answer
from h123.report.text.constant_factors import Cell, common, common_line, without
from h123.report.text.explanations import causes, decomposition
from h123.report.text.explanations.reasons import reason_lines
from h123.report.text.explanations.windows import window_lines
from h123.report.text.headline import headline_sentences
from h123.report.text.outcomes import outcomes
from h123.report.text.printed import PrintedTable, nothing_printed, printed_side, printed_table, side_beside
from h123.report.text.trust import caveats
from h123.report.text.trust.first import first_lines
from h123.report.text.trust.gate import gate_lines
from h123.report.text.trust.places import place_rows
from h123.store import CampaignFolder
from h123.study import Study

_DRAWN = 6
"""Rows of causes that a picture has room for."""


def write_report(folder: CampaignFolder, beside: Path | None = None) -> Path:
    """Write report.html and figures/ from verdicts.json and the campaign's files; returns the page's path.

    `beside`: another campaign's folder, whose values stand beside the paper's printed ones too; it is only read.
    Raises UserError where the campaign has not been analysed, or the other cannot stand beside it.
    """
    verdicts: Mapping[str, Any] = read_verdicts(folder)
    printed = _printed(folder, verdicts, beside)
    same = common(verdicts)
    charts = bars_figures(
        _in_order(verdicts["values"], verdicts),
        Study.from_resolved(folder.study).compare.charts,
        verdicts["factor"],
    )
    verdicts = without(verdicts, same)
    figures = _figures(folder, verdicts, same, charts)
    if printed and (values_figure := printed_figure(printed)):
        figures.append(values_figure)
    for figure in figures:
        save(figure, folder.path / "figures")
    page = folder.path / "report.html"
    content = _content(folder, verdicts, figures, printed)
    rendered = template("h123.report.page", "page.html.j2").render(**content, throughout=common_line(same))
    write_atomically(page, with_contents(rendered))
    return page


def _printed(folder: CampaignFolder, verdicts: Mapping[str, Any], beside: Path | None) -> PrintedTable | None:
    side = printed_side(folder, verdicts)
    if side is None:
        if beside is not None:
            raise nothing_printed(folder)
        return None
    return printed_table(side, side_beside(folder, beside) if beside is not None else None)


def _figures(folder: CampaignFolder, verdicts: Mapping[str, Any], same: Cell, charts: list[Figure]) -> list[Figure]:
    """The pictures that the data allow: none without a valid trial; the study's own charts among them."""
    comparisons = [c for c in verdicts["comparisons"] if not c["twin"]]
    known = [c for c in comparisons if c["ratio"] is not None]
    factor, margin = verdicts["factor"], verdicts["margin"]
    values = _in_order(verdicts["values"], verdicts)
    figures = []
    if answered := [c for c in headline(comparisons) if c["ratio"] is not None]:
        figures.append(answer_figure(answered, margin))
    if known:
        figures.append(details_figure(known, margin))
    if why := causes.cause_rows(verdicts):
        figures.append(causes_figure(why[:_DRAWN]))
    figures += capacity_figures(verdicts.get("capacity"), factor)
    if verdicts["parts"] and verdicts["parts"]["rows"]:
        figures.append(split_figure(verdicts["parts"], margin))
    figures += charts
    if values:
        asked = headline(comparisons)[0]["metric"] if comparisons else "latency"
        if any(row["metrics"].get(asked) is not None for row in values):
            figures.append(trials_figure(values, asked, factor))
        if quantiles := _in_order(without(latency_quantiles(folder), same), verdicts):
            bases = {c["b"] for c in known}
            if not all(row["twin"] for row in quantiles):
                figures.append(distribution_figure(quantiles, factor, bases.pop() if len(bases) == 1 else None))
            figures.append(requests_figure(quantiles, treatments(values, factor), factor))
        if visits := _in_order(without(median_visits(folder), same), verdicts):
            figures += [waterfalls_figure(visits, factor), completion_figure(visits, factor)]
        if costs := cpu_figure(values, factor):
            figures.append(costs)
    if verdicts["as_published"]:
        levels = {name: list(found) for name, found in folder.study["factors"].items() if name not in same}
        figures += averages_figures(verdicts["as_published"]["replications"], levels, factor)
        figures += published_figures(verdicts["as_published"])
    return figures


def _in_order(rows: list[Mark], verdicts: Mapping[str, Any]) -> list[Mark]:
    """Rows of trials or treatments, those of the study's first cell first: the order that the comparisons have."""
    cells = [c["cell"] for c in verdicts["comparisons"]]

    def place(row: Mark) -> int:
        others = {name: level for name, level in row["cell"].items() if name != verdicts["factor"]}
        return cells.index(others) if others in cells else len(cells)

    return sorted(rows, key=place)


def _content(
    folder: CampaignFolder, verdicts: Mapping[str, Any], figures: list[Figure], printed: PrintedTable | None
) -> dict[str, object]:
    """Everything that the template shows."""
    comparisons = [c for c in verdicts["comparisons"] if not c["twin"]]
    attempts, events = load_attempts(folder), folder.events()
    drawn = {figure.name: figure for figure in figures}
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
        "answer_figure": drawn.pop("answer", None),
        "causes_figure": drawn.pop("causes", None),
        "printed_figure": drawn.pop("printed-values", None),
        "split_figure": drawn.pop("parts", None),
        "capacity_figures": [drawn.pop(name) for name in list(drawn) if name.startswith("capacity-")],
        "published_figures": [drawn.pop(name) for name in list(drawn) if name.startswith("published-")],
        "figures": list(drawn.values()),
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


def _doubts(verdicts: Mapping[str, Any]) -> list[str]:
    """What must stand on the first screen, below the answer: holes in the campaign and audits that failed."""
    trials = verdicts["trials"]
    missing = f"{trials['missing']} of {trials['planned']} trials have no valid attempt yet."
    failed = [f"Audit {row['audit']} failed: {row['failure']}" for row in verdicts["audit_summary"] if row["failed"]]
    return [*([missing] if trials["missing"] else []), *failed]
