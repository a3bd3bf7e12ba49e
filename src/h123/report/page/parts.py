"""Registers the parts of the page for each section of verdicts.json.

A part consists of a template in parts/ and the data that it needs in addition to verdicts.json.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jinja2
from markupsafe import Markup

from h123.analysis import headline
from h123.analysis.as_published import document as published
from h123.analysis.claims import section as ledgers
from h123.analysis.comparisons import capacity, interactions, tails
from h123.analysis.explanations import causes, changes, transport, windows
from h123.analysis.provenance import counts, heading, values
from h123.analysis.section import Section
from h123.analysis.verdicts import audits, decomposition, judgement, ladder, outlook, twins
from h123.base.extras import REPORT
from h123.report.page.sources import PageSources
from h123.report.page.template import templates
from h123.report.text import advice, as_published, claims, difference, words
from h123.report.text import capacity as capacity_words
from h123.report.text import ladder as ladder_words
from h123.report.text.answer import answers, cold, findings, no_answer
from h123.report.text.explanations import causes as cause_words
from h123.report.text.explanations import changes as change_words
from h123.report.text.explanations import decomposition as decomposition_words
from h123.report.text.explanations.reasons import reason_lines
from h123.report.text.explanations.windows import window_lines
from h123.report.text.headline import headline_sentences
from h123.report.text.order import by_ratio
from h123.report.text.outcomes import gate_lines, outcomes
from h123.report.text.sections import first_lines, trust
from h123.report.text.trust import caveats

if TYPE_CHECKING:
    from h123.report.figures.drawing import Figure

Content = Mapping[str, object]
ANSWER = "answer"
"""The name of the figure at the top of the page."""
PRINTED = "printed-values"
"""The name of the figure of the values published in a paper."""


class PagePart(NamedTuple):
    """A part of the page: a template and the data for it."""

    section: Section[Any] | None
    """The section that the part shows. None if it is about the campaign's files, or about all sections."""
    template: str
    content: "Callable[[PageSources, Sequence[Figure]], Content | None]"
    """Returns the template's data, which may include the section's figures, or None to leave the part out of the
    page."""


def _gate(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    return {"lines": gate_lines(of.verdicts)} if of.verdicts.get("gate") else None


def _first(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    lines = first_lines(of.verdicts)
    return {"lines": lines} if lines else None


def _answer(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    if of.verdicts.get("changes"):
        return None  # the changes are the answer
    comparisons, colder = headline(of.comparisons), findings(cold(of.verdicts))
    return {
        "answer_tables": answers(of.verdicts),
        "no_answer": no_answer(of.verdicts),
        "headline": headline_sentences(comparisons),
        "answers": comparisons,
        "outcomes": list(outcomes(comparisons, of.verdicts["margin"])),
        "cold": colder,
        "confidence": difference.confidence([*comparisons, *colder]),
    }


def _changes(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    rows = change_words.change_rows(of.verdicts)
    return {"rows": rows, "text": change_words} if rows else None


def _windows(of: PageSources, _: "Sequence[Figure]") -> Content:
    return {"lines": window_lines(of.verdicts)}


def _transport(_: PageSources, __: "Sequence[Figure]") -> Content:
    return {}


def _outlook(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    return None if of.verdicts.get("changes") else {"lines": advice.advice(of.verdicts)}


def _doubts(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    """Return what the first screen shows below the answer: missing trials and failed audits."""
    trials = of.verdicts["trials"]
    have = "has" if trials["missing"] == 1 else "have"
    missing = f"{trials['missing']} of {trials['planned']} trials {have} no valid attempt yet."
    failed = [f"Audit {row['audit']} failed: {row['failure']}" for row in of.verdicts["audit_summary"] if row["failed"]]
    lines = [*([missing] if trials["missing"] else []), *failed]
    return {"lines": lines} if lines else None


def _undrawn(_: PageSources, __: "Sequence[Figure]") -> Content | None:
    note = REPORT.note("Figures")
    return {"lines": [note]} if note else None


def _answer_figure(of: PageSources, figures: "Sequence[Figure]") -> Content | None:
    return None if of.verdicts.get("changes") else {"figures": [figure for figure in figures if figure.name == ANSWER]}


def _causes(of: PageSources, figures: "Sequence[Figure]") -> Content | None:
    rows = cause_words.cause_rows(of.verdicts)
    return (
        {"why": rows, "reasons": reason_lines(of.verdicts), "causes": cause_words, "figures": figures} if rows else None
    )


def _trust(of: PageSources, _: "Sequence[Figure]") -> Content:
    return {"lines": trust(of.verdicts)}


def _ladder(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    return {"ladder": ladder_words} if of.verdicts.get("ladder") else None


def _capacity(of: PageSources, figures: "Sequence[Figure]") -> Content | None:
    return {"capacity": capacity_words, "figures": figures} if of.verdicts.get("capacity") else None


def _decomposition(of: PageSources, figures: "Sequence[Figure]") -> Content | None:
    parts = of.verdicts["parts"]
    return {"split": decomposition_words, "figures": figures} if parts and parts["rows"] else None


def _other_figures(_: PageSources, figures: "Sequence[Figure]") -> Content:
    return {"figures": [figure for figure in figures if figure.name != ANSWER]}


def _left_out(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    return {"left_out": of.facts.left_out} if of.facts.left_out else None


def _claims(_: PageSources, __: "Sequence[Figure]") -> Content:
    return {"claims": claims}


def _comparisons(of: PageSources, _: "Sequence[Figure]") -> Content:
    return {"comparisons": of.comparisons, "by_ratio": by_ratio}


def _tails(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    return {"caveats": caveats} if of.verdicts.get("tails") else None


def _interactions(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    """Return the terms of the interaction model, except those with a level that takes no time under the virtual
    clock."""
    had = of.verdicts.get("interactions") or []
    known = [c for c in of.comparisons if c["metric"] in {row["metric"] for row in had}]

    def timed(factor: str, level: str) -> bool:
        return not all(map(difference.timeless, [c for c in known if c["cell"].get(factor) == level] or known))

    terms = [
        row
        for row in had
        if all(timed(name, t["level"]) and timed(name, t["against"]) for name, t in row["term"].items())
    ]
    return {"terms": terms, "left_out": len(had) - len(terms)} if terms else None


def _as_published(of: PageSources, figures: "Sequence[Figure]") -> Content | None:
    others = [figure for figure in figures if figure.name != PRINTED]
    return {"as_published": as_published, "figures": others} if of.verdicts["as_published"] else None


def _printed(of: PageSources, figures: "Sequence[Figure]") -> Content | None:
    return (
        {"printed": of.printed, "figures": [figure for figure in figures if figure.name == PRINTED]}
        if of.printed
        else None
    )


def _twins(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    rows = [c for c in of.verdicts["comparisons"] if c["twin"]]
    return {"twins": rows} if rows else None


def _links(of: PageSources, _: "Sequence[Figure]") -> Content:
    return {
        "networks": of.facts.networks,
        "links": of.facts.links,
        "lab_shares": of.facts.lab_shares,
    }


def _audits(of: PageSources, _: "Sequence[Figure]") -> Content:
    return {"failures": [finding for finding in of.verdicts["audits"] if not finding["passed"]]}


def _invalid(of: PageSources, _: "Sequence[Figure]") -> Content:
    return {"invalid": of.facts.invalid}


def _order(of: PageSources, _: "Sequence[Figure]") -> Content | None:
    return {"order": of.facts.order} if of.facts.order else None


def _provenance(of: PageSources, _: "Sequence[Figure]") -> Content:
    return {"provenance": of.facts.provenance}


HEAD: Sequence[PagePart] = [
    PagePart(None, "gate", _gate),
    PagePart(None, "first", _first),
    PagePart(changes.SECTION, "changes", _changes),
    PagePart(judgement.SECTION, "answer", _answer),
    PagePart(outlook.SECTION, "lines", _outlook),
    PagePart(counts.SECTION, "doubts", _doubts),
    PagePart(judgement.SECTION, "figure", _answer_figure),
    PagePart(None, "lines", _undrawn),
]
"""The parts on the first screen."""
BODY: Sequence[PagePart] = [
    PagePart(causes.SECTION, "causes", _causes),
    PagePart(None, "trust", _trust),
    PagePart(windows.SECTION, "lines", _windows),
    PagePart(transport.SECTION, "transport", _transport),
    PagePart(ladder.SECTION, "ladder", _ladder),
    PagePart(capacity.SECTION, "capacity", _capacity),
    PagePart(decomposition.SECTION, "decomposition", _decomposition),
    PagePart(judgement.SECTION, "figures", _other_figures),
    PagePart(values.SECTION, "figures", _other_figures),
    PagePart(None, "left_out", _left_out),
    PagePart(ledgers.SECTION, "claims", _claims),
    PagePart(judgement.SECTION, "comparisons", _comparisons),
    PagePart(tails.SECTION, "tails", _tails),
    PagePart(interactions.SECTION, "interactions", _interactions),
    PagePart(published.SECTION, "as_published", _as_published),
    PagePart(published.SECTION, "printed", _printed),
    PagePart(twins.SECTION, "twins", _twins),
    PagePart(None, "links", _links),
    PagePart(audits.SECTION, "audits", _audits),
    PagePart(None, "invalid", _invalid),
    PagePart(None, "order", _order),
    PagePart(heading.SECTION, "provenance", _provenance),
]
"""The parts below the table of contents, in this order."""


def page_parts(
    parts: Sequence[PagePart], of: PageSources, figures: "Mapping[type, Sequence[Figure]]"
) -> Iterator[Markup]:
    """Render and yield the parts that have content."""
    environment = _environment()
    for part in parts:
        own = figures.get(part.section.part, ()) if part.section else ()
        content = part.content(of, own)
        if content is not None:
            page = environment.get_template(f"parts/{part.template}.html.j2")
            yield Markup(page.render(verdicts=of.verdicts, **content))


def _environment() -> jinja2.Environment:
    environment = templates("h123.report.page")
    environment.globals |= {"words": words, "difference": difference, "inline": _inline}
    return environment


def _inline(figure: "Figure") -> str:
    from h123.report.figures.drawing import inline  # imported here, because the drawing library may be missing

    return inline(figure)
