"""The ledger of claims in a terminal: what is claimed, whether it can be, and what would decide it."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from h123.analysis.claims import verdict
from h123.study import Claim, Ledger

_STYLES = {"impossible": "bold yellow", "open": "dim"}


def print_claims(ledgers: Iterable[Ledger], console: Console) -> None:
    """Print all claims with their verdicts, and how many there are of each."""
    counts: dict[str, int] = {}
    for ledger in ledgers:
        console.print(Text(f"{ledger.source.title} ({ledger.source.where})", style="bold"))
        for claim in ledger.claims:
            word = _print_claim(claim, console)
            counts[word] = counts.get(word, 0) + 1
        console.print()
    total = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    console.print(f"{sum(counts.values())} claims: {total}", highlight=False)


def _print_claim(claim: Claim, console: Console) -> str:
    word, arithmetic = verdict(claim)
    head = Text(f"  {claim.id:<5}")
    head.append(f"{word:<11}", style=_STYLES[word])
    head.append(_statement(claim))
    console.print(head)
    said = f"“{claim.quotation}”" if claim.quotation else f"{claim.summary} ({claim.source})"
    console.print(Text(f"       {said}", style="italic"))
    for one in arithmetic:
        console.print(Text(f"       {'can be' if one.passed else 'cannot be'}: {one.shown}"))
    if word == "open":
        console.print(Text(f"       decided by: {claim.rule}", style="dim"))
    return word


def _statement(claim: Claim) -> str:
    sides = f"{claim.a} {claim.direction} than {claim.b}" if claim.a else ""
    if claim.a and claim.direction in ("equivalent", "none"):
        sides = f"{claim.a} and {claim.b}: {'equivalent' if claim.direction == 'equivalent' else 'no gain'}"
    conditions = ", ".join(f"{name} {value}" for name, value in claim.condition.items())
    words = [claim.metric, sides, claim.size or "", conditions]
    return "; ".join(word for word in words if word)
