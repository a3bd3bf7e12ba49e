"""Describes claims for the terminal and the page: the claim, its measurement, the verdict and the reason."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from h123.analysis import meaningful
from h123.report.text.words import confidence_words, level
from h123.study import metric

if TYPE_CHECKING:
    from h123.analysis.claims.rows import ClaimFigure, ClaimRow, LedgerDecided
    from h123.analysis.results.decided import Decided
    from h123.documents.result_file import PublishedResult

_STYLES = {
    "confirmed": "green",
    "holds": "green",
    "direction only": "blue",
    "refuted": "yellow",
    "impossible": "bold yellow",
}
_CLASSES = {
    "confirmed": "equivalent",
    "holds": "equivalent",
    "direction only": "better",
    "refuted": "worse",
    "impossible": "worse",
}
_SUMMED = {
    "confirmed": ("confirmed", "holds", "direction only"),
    "refuted": ("refuted", "impossible"),
    "undecided": ("undecided",),
    "open": ("open",),
    "untestable": ("untestable",),
}
"""The columns of the summary, and the verdicts that each column counts."""
_SHORTEST_TITLE = 20
"""The smallest width at which a work's title is still useful, in columns."""
_INDENT = Text("       ")


@dataclass(frozen=True)
class OtherLedgers:
    """A different campaign's verdicts on the claims in the same files (ledgers)."""

    name: str
    ledgers: "Sequence[LedgerDecided]"

    def lines(self, title: str, claim: str) -> list[str]:
        """Return the other campaign's decision on one claim: `matched: refuted; -3.1 % (95 %: ...), from 8
        blocks...`."""
        rows = [
            row for ledger in self.ledgers if ledger["title"] == title for row in ledger["claims"] if row["id"] == claim
        ]
        return [line for row in rows for line in self._lines(row)]

    def _lines(self, claim: "ClaimRow") -> list[str]:
        if not claim["figures"]:
            return [f"{self.name}: not measured"] if claim["verdict"] == "undecided" else []
        figures = "; ".join(f"{_place(figure['cell'])}{change(figure)}" for figure in claim["figures"])
        because = f", because {claim['reason']}" if claim["reason"] else ""
        return [f"{self.name}: {verdict_words(claim)}{because}; {figures}, from {_basis(claim)}"]


def print_claim_counts(decided: "Mapping[str, Decided]", console: Console) -> None:
    """Print a line for each file of claims: its name, the number of its claims, and how many have each verdict."""
    columns = ["", "claims", *_SUMMED]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="", highlight=False)
    for column in columns:
        table.add_column(column, no_wrap=True, justify="right" if column else "left")
    words = {name: [claim["verdict"] for claim in one.ledger["claims"]] for name, one in decided.items()}
    room = console.width - max(map(len, words), default=0) - sum(len(column) + 2 for column in columns)
    for name, verdicts in words.items():
        title = decided[name].ledger["title"] if room > _SHORTEST_TITLE else ""
        table.add_row(name, *_counts(verdicts), Text(shorten(title, max(1, room), placeholder=" …"), style="dim"))
    table.add_row("all", *_counts([verdict for verdicts in words.values() for verdict in verdicts]))
    console.print(table)
    for line in (
        "",
        "Confirmed (at least in direction) and refuted: by a campaign, a document or arithmetic. Undecided: the data "
        "do not decide it. Open: no published campaign measured it. Untestable: no trial can.",
        f"With figures and reasons: h123 claims {next(iter(words), '--details')}; of all claims: "
        "h123 claims --details. Your own campaign decides: h123 claims --campaign DIR",
    ):
        console.print(Text(line), soft_wrap=True)


def _counts(verdicts: Sequence[str]) -> list[str]:
    counts = [sum(verdict in group for verdict in verdicts) for group in _SUMMED.values()]
    return [str(len(verdicts)), *(str(count) if count else "–" for count in counts)]


def print_claims(decided: "Iterable[Decided]", console: Console, others: OtherLedgers | None = None) -> None:
    """Print all claims with their verdicts, the count of each verdict, and how many claims each published result
    decided."""
    words, names = list[str](), list[str]()
    for entry in decided:
        ledger = entry.ledger
        console.print(Text(f"{ledger['title']} ({ledger['where']})", style="bold"))
        for line in conditions(ledger):
            console.print(Text(line))
        for claim in ledger["claims"]:
            _print_claim(claim, console)
            if result := entry.by.get(claim["id"]):
                _print_indented(result_line(result, claim["id"]), console, "dim")
                names.append(result.name)
            for line in others.lines(ledger["title"], claim["id"]) if others else []:
                _print_indented(line, console)
            words.append(claim["verdict"])
        console.print()
    total = ", ".join(f"{words.count(word)} {word}" for word in sorted(set(words)))
    console.print(f"{len(words)} claims: {total}")
    if names:
        each = ", ".join(f"{name} {count}" for name, count in sorted(Counter(names).items()))
        console.print(f"Decided by published campaigns (docs/results/data.tar.xz): {each}", soft_wrap=True)


def _print_claim(claim: "ClaimRow", console: Console) -> None:
    head = Text(f"  {claim['id']:<5}")
    head.append(f"{verdict_words(claim):<14} ", style=_STYLES.get(claim["verdict"], "dim"))
    _print_indented(statement(claim), console, head=head)
    _print_indented(claim_words(claim), console, "italic")
    for line in [*measured_lines(claim), *arithmetic_lines(claim)]:
        _print_indented(line, console)
    for line in remarks(claim):
        _print_indented(line, console, "dim")


def _print_indented(text: str, console: Console, style: str = "", head: Text = _INDENT) -> None:
    """Print text after `head`, with all further lines below the text's beginning."""
    for line in Text(text, style).wrap(console, max(console.width - len(head), 20)):
        line.rstrip()
        console.print(head + line, soft_wrap=True)
        head = Text(" " * len(head))


def result_line(result: "PublishedResult", claim: str) -> str:
    """Name the published result that a verdict comes from, and its campaign's settings."""
    campaign = result.campaign
    study = campaign["study"]
    size = next(
        ledger["family_size"]
        for ledger in result.head["claims"]
        if any(row["id"] == claim and row["figures"] for row in ledger["claims"])
    )
    under = [f"seed {campaign['seed']}", campaign["created"][:10]]
    under += ["virtual clock"] if study["settings"].get("clock") == "virtual" else []
    under += [f"scale {study['scale']:g}"] if study.get("scale", 1) != 1 else []
    over = f"; p adjusted by Holm over {size} claims" if size > 1 else ""
    return f"by: the published campaign {result.name} ({', '.join(under)}{over})"


def terminal_lines(ledgers: "Sequence[LedgerDecided]") -> list[str]:
    """Return the verdicts on each ledger's claims, one line each: `confirmed C01, C05; undecided C02`."""
    lines = []
    for ledger in ledgers:
        words = dict.fromkeys([*_STYLES, *(claim["verdict"] for claim in ledger["claims"])])
        ids_by_verdict = {
            word: [claim["id"] for claim in ledger["claims"] if claim["verdict"] == word] for word in words
        }
        verdicts = "; ".join(f"{word} {', '.join(ids)}" for word, ids in ids_by_verdict.items() if ids)
        scale = f" at scale {ledger['scale']:g}" if ledger["scale"] not in (None, 1) else ""
        lines.append(f"Published claims{scale}: {verdicts}")
    return lines


def conditions(ledger: "LedgerDecided") -> list[str]:
    """Return sentences about the conditions of a campaign's verdicts on this ledger."""
    lines = []
    if ledger["scale"] not in (None, 1):
        lines.append(
            f"The campaign ran at --scale {ledger['scale']:g}, with fewer requests than the study has: not quite the "
            "condition that the work states."
        )
    if ledger["family_size"]:
        count = ledger["family_size"]
        lines.append(f"p values are adjusted by Holm over the {count} claims that the campaign was to measure.")
    return lines


def verdict_class(claim: "ClaimRow") -> str:
    """Return the style of the comparison verdict that corresponds to this claim's verdict."""
    return _CLASSES.get(claim["verdict"], "inconclusive")


def verdict_words(claim: "ClaimRow") -> str:
    """Return the verdict, with a note if the printed figures are impossible as well."""
    impossible = not claim["possible"] and claim["verdict"] != "impossible"
    return str(claim["verdict"]) + (", impossible as printed" if impossible else "")


def claim_words(claim: "ClaimRow") -> str:
    """Return the source's own sentence, or a summary with its source."""
    if not claim["quotation"]:
        return f"{claim['summary']} ({claim['source']})"
    where = claim.get("where")
    return f"“{claim['quotation']}”" + (f" ({where})" if where else "")


def statement(claim: "ClaimRow") -> str:
    """Return the claim's metric, levels and conditions as text."""
    a, b = (level(side) if side else "" for side in (claim["a"], claim["b"]))
    sides = f"{a} {claim['direction']}" + (f" than {b}" if b else "") if a else ""
    if a and b and claim["direction"] in ("equivalent", "none"):
        sides = f"{a} and {b}: {'equivalent' if claim['direction'] == 'equivalent' else 'no gain'}"
    against = f"against {_levels(claim['against'])}" if claim["against"] else ""
    size = claim["size"] or ""
    if claim["direction"] in ("not higher", "not lower"):
        # The ratio may be at least 1 / (1 + margin), so the other side is at most higher by the margin.
        sides, size = f"{b} not higher than {a} {size}" if claim["direction"] == "not lower" else f"{sides} {size}", ""
    words = [metric(claim["metric"]).title, sides, size, _levels(claim["condition"]), against]
    return "; ".join(word for word in words if word)


def measured_lines(claim: "ClaimRow") -> list[str]:
    """Return each figure as a change with its interval, and the data behind it."""
    figures = [f"{_place(figure['cell'])}{change(figure)}" for figure in claim["figures"]]
    if not figures:
        return []
    basis = f"from {_basis(claim)}"
    return [f"measured: {figures[0]}, {basis}"] if len(figures) == 1 else ["measured:", *figures, basis]


def change(figure: "ClaimFigure") -> str:
    """Format a change: `-24.3 % (95 %: -30.1 % to -18.2 %)`."""
    centre, low, high = (_percentage(figure[part]) for part in ("ratio", "low", "high"))
    if not meaningful(figure["confidence"]):
        return f"{centre} (too few blocks for an interval)"
    return f"{centre} ({confidence_words(figure['confidence'])}: {low} to {high})"


def _percentage(ratio: float | None) -> str:
    return "without bound" if ratio is None else f"{100 * (ratio - 1):+.1f} %"


def arithmetic_lines(claim: "ClaimRow") -> list[str]:
    """Return lines that show by arithmetic whether the published figures are possible."""
    return [f"{'can be' if check['possible'] else 'cannot be'}: {check['shown']}" for check in claim["arithmetic"]]


def remarks(claim: "ClaimRow") -> list[str]:
    """Return the reason for the verdict, or what would decide the claim, and notes on what the verdict does not
    cover."""
    because = "decided by: " if claim["verdict"] == "open" else "because " if claim["figures"] else ""
    if not because and (claim["reason"] or "").startswith("a campaign of "):
        because = "what the figures leave is decided by: "
    lines = [f"{because}{claim['reason']}"] if claim["reason"] else []
    if same := claim.get("repeats"):
        lines.append(f"rests on the same observation as {same}: the two count once, and this is no further evidence")
    return lines + ([f"note: {claim['note']}"] if claim["note"] else [])


def _basis(claim: "ClaimRow") -> str:
    parts = [f"{claim['blocks']} block{'' if claim['blocks'] == 1 else 's'}"]
    if claim["p"] is not None:
        parts.append(f"p {claim['p']:.2g}, adjusted {claim['p_adjusted']:.2g}")
    requests = claim["requests"]
    parts.append(f"{' or '.join(map(str, requests))} request{'' if requests == [1] else 's'} per user")
    return "; ".join(parts)


def _levels(condition: Mapping[str, object]) -> str:
    """Describe a condition: `network medium or poor, method POST`."""
    levels = {name: " or ".join(map(str, v)) if isinstance(v, list) else v for name, v in condition.items()}
    return ", ".join(f"{name} {value}" for name, value in levels.items())


def _place(cell: Mapping[str, str] | None) -> str:
    return f"{' '.join(cell.values())}: " if cell else ""
