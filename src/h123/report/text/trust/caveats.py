"""Writes the caveats next to the answer: metrics based on the same observation, confounded factors, handshakes in
processor time, uncertain tails, senders that failed on similar paths."""

from collections.abc import Sequence

from h123.analysis.comparisons.confounding import ConfoundedPart, ConfoundedRow
from h123.analysis.comparisons.tails import TailRow, TailsPart
from h123.analysis.provenance.adverse_paths import AdversePathsPart
from h123.analysis.verdicts.handshakes import HandshakesPart, HandshakesRow, handshakes_per_request
from h123.analysis.verdicts.repetitions import RepeatsPart, RepeatsRow
from h123.report.text.words import cell_name, level, listed, percent
from h123.study import metric


def repeated_lines(verdicts: RepeatsPart) -> list[str]:
    """Return sentences about metrics based on the same observation as another metric. Like the other functions here,
    this one returns nothing for a campaign that an earlier version analysed."""
    return [_repeated(row) for row in verdicts.get("repeats", [])]


def confounded_lines(verdicts: ConfoundedPart) -> list[str]:
    """Return sentences about factors whose parameters changed together."""
    return [_confounded(row) for row in verdicts.get("confounded", [])]


def handshake_lines(verdicts: HandshakesPart) -> list[str]:
    """Return sentences about how much of the processor time is spent on handshakes."""
    return _handshakes(verdicts.get("handshakes", []))


def tail_lines(verdicts: TailsPart) -> list[str]:
    """Return sentences on how precisely high quantiles are known."""
    tails = verdicts.get("tails", [])
    names = dict.fromkeys(row["metric"] for row in tails)
    return [_tail(name, [row for row in tails if row["metric"] == name]) for name in names]


def adverse_path_lines(verdicts: AdversePathsPart) -> list[str]:
    """Return a sentence for each sender that failed when it was verified on paths like the campaign's, and one for all
    senders that were not verified on such paths."""
    faults: dict[tuple[str, str], list[str]] = {}
    missing: dict[str, None] = {}
    for row in verdicts.get("adverse_paths", []):
        if row["fault"]:
            faults.setdefault((row["subject"], row["role"]), []).append(row["fault"])
        else:
            missing[row["subject"]] = None
    lines = [
        f"verified as a {role}, {name} {found[0]}{f' (and {len(found) - 1} more)' * (len(found) > 1)}: "
        f"h123 list subjects {name}"
        for (name, role), found in faults.items()
    ]
    if missing:
        lines.append(f"not verified on a path like this one: h123 verify {' '.join(missing)} --paths")
    return lines


def _repeated(row: RepeatsRow) -> str:
    first, second = metric(row["metric"]).title, metric(row["of"]).title
    correlation = f", r = {row['correlation']:.2f} over the blocks" if row["correlation"] is not None else ""
    return (
        f"{first} and {second.lower()} are one observation in a closed loop, where users wait for responses"
        f"{correlation}: they count once, and {first.lower()} is no further evidence"
    )


def _confounded(row: ConfoundedRow) -> str:
    names = listed(row["together"], "and")
    text = f"levels of {row['factor']} change {names} together" if row["factor"] else f"{names} change together here"
    return f"{text[0].upper()}{text[1:]}: which of them makes a difference cannot be known"


def _handshakes(rows: Sequence[HandshakesRow]) -> list[str]:
    """Say in which cell the levels' handshakes per request differ most. Empty if they do not differ."""
    cells: dict[str, list[HandshakesRow]] = {}
    for row in rows:
        cells.setdefault(cell_name(row["cell"]), []).append(row)
    if not cells:
        return []

    where, worst = max(cells.items(), key=lambda item: _span(item[1]))
    if not _span(worst):
        return []
    worst.sort(key=handshakes_per_request, reverse=True)
    shares = [f"{row['handshakes']} of {row['requests']} requests with {level(row['level'])}" for row in worst]
    shares_words = listed(shares, "and") if len(shares) <= 4 else f"{listed(shares[:3], ',')} ..."
    place = f" ({where})" if where else ""
    return [f"CPU per request includes handshakes: {shares_words}{place}; `cpu_warm` and `cpu_handshake` separate them"]


def _span(rows: Sequence[HandshakesRow]) -> float:
    shares = [handshakes_per_request(row) for row in rows]
    return max(shares) - min(shares)


def _tail(name: str, rows: Sequence[TailRow]) -> str:
    counts = sorted({row["requests"] for row in rows})
    requests = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    bounded = [row for row in rows if row["value"] and row["low"] is not None and row["high"] is not None]
    widest = max(bounded, key=lambda row: (row["high"] or 0.0) / (row["low"] or 1.0), default=None)
    text = f"{metric(name).title}: from {requests} requests per trial"
    if widest:
        ends = (widest["low"], widest["high"])
        interval = " to ".join(metric(name).format(end) for end in ends)
        where = cell_name(widest["cell"])
        text += f"; least known for {where}, {metric(name).format(widest['value'])} ({interval} in a typical trial)"
    fewest = [row for row in rows if row["fewest"]]
    if fewest:
        text += (
            f"; with only {min(row['requests'] for row in fewest)}, its upper bound is the slowest request, so it is "
            "about 7 % too low, equally for both levels only if their tails have the same shape"
        )
    return text


def tail_row(row: TailRow) -> tuple[str, str, str, str]:
    """Return the cell's name, the value, its interval, and the distances of both ends from the value in per cent."""
    wording = metric(row["metric"])
    interval = " – ".join(wording.format(row[end]) for end in ("low", "high"))
    value, ends = row["value"], (row["low"], row["high"])
    spans = [end / value - 1 if value and end is not None else None for end in ends]
    return cell_name(row["cell"]), wording.format(row["value"]), interval, " / ".join(percent(span) for span in spans)
