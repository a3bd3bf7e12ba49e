"""Presents a campaign's results: in the terminal, on the page and in figures. Reads verdicts.json and the campaign's
raw files."""

from typing import TYPE_CHECKING

from h123.base.late_loading import load_late

if TYPE_CHECKING:
    from h123.report.brief.answer import print_answer, print_gate, print_table
    from h123.report.brief.caveats import caveat_lines
    from h123.report.figures.axes import lines
    from h123.report.page.campaign import result_page, write_report
    from h123.report.page.facts import PageFacts, published_facts
    from h123.report.page.template import template, with_contents
    from h123.report.terminal import chosen_causes, print_causes, print_summary
    from h123.report.text.claims import OtherLedgers, print_claim_counts, print_claims
    from h123.report.text.difference import sentence
    from h123.report.text.explanations.bottlenecks import chosen_rows, limits_lines
    from h123.report.text.sections import first_lines
    from h123.report.text.trust.looks import early_look_lines
    from h123.report.text.words import level

__all__ = [
    "OtherLedgers",
    "PageFacts",
    "catalogue",
    "caveat_lines",
    "chosen_causes",
    "chosen_rows",
    "distribution",
    "drawing",
    "early_look_lines",
    "first_lines",
    "glossary",
    "level",
    "limits_lines",
    "lines",
    "print_answer",
    "print_causes",
    "print_claim_counts",
    "print_claims",
    "print_gate",
    "print_summary",
    "print_table",
    "published_facts",
    "result_page",
    "sentence",
    "stages",
    "template",
    "trial_view",
    "with_contents",
    "write_report",
]

load_late(__name__)
