"""Lists the caveats of an answer, one line each, with advice."""

import re
from collections.abc import Iterator
from pathlib import Path

from h123.analysis import fails_often, headline
from h123.analysis.sections import Verdicts
from h123.base.paths import typed
from h123.base.units import counted, format_share, format_value
from h123.report.text.answer import answers
from h123.report.text.trust.caveats import adverse_path_lines
from h123.report.text.trust.failures import sentence as failure_sentence
from h123.report.text.trust.machines import machine_lines
from h123.report.text.words import cell_name, failed_audit, level, listed, metric_titles, opened, percent, place

_NAMED = 3
_UNVERIFIED = {"changed": "changed since it was verified", "none": "is not verified"}


_FOLDER = re.compile(r"(--out[ \u00a0])DIR\b")


def caveat_lines(verdicts: Verdicts, folder: Path | None = None) -> list[str]:
    """Return the caveats of a campaign, the most important first. Commands in the caveats name `folder`, if given."""
    checks = (
        _missing,
        _failed_attempts,
        _audits,
        _failed_requests,
        _disturbances,
        _twins,
        _machines,
        _unverified,
        _adverse_paths,
        _confounded,
        _medians,
        _windows,
        _undecided,
        _width,
        _elsewhere,
        _privileges,
        _handshakes,
        _tails,
        _seals,
        _imported,
    )
    return [_addressed(line, folder) for check in checks for line in check(verdicts)]


def _addressed(line: str, folder: Path | None) -> str:
    return _FOLDER.sub(lambda found: found[1] + typed(folder), line) if folder else line


def _missing(verdicts: Verdicts) -> Iterator[str]:
    trials, outlook = verdicts["trials"], verdicts["projection"]
    if outlook["waiting"]:
        verb = "has" if outlook["waiting"] == 1 else "have"
        yield f"{outlook['waiting']} of {trials['planned']} trials {verb} not run yet: h123 run --out DIR"
    if damaged := outlook.get("damaged"):
        verb = "has" if damaged == 1 else "have"
        yield f"{damaged} of {trials['planned']} trials {verb} damaged or missing files: h123 run --out DIR"
    if outlook["failed"]:
        yield f"{outlook['failed']} of {trials['planned']} trials failed: h123 run --out DIR --retry"


def _failed_attempts(verdicts: Verdicts) -> Iterator[str]:
    for row in verdicts.get("failed_attempts", []):
        if fails_often(row):
            continue  # shown as a warning above the answer
        factor = verdicts["factor"]
        who = level(row["cell"][factor]) if factor in row["cell"] else "the server or client"
        where = place({name: value for name, value in row["cell"].items() if name != factor})
        yield opened(where, f"{who} failed in {row['failed']} of {row['attempts']} attempts, which were repeated")


def _audits(verdicts: Verdicts) -> Iterator[str]:
    for row in verdicts["audit_summary"]:
        if not row["failed"]:
            continue
        text = failed_audit(row["audit"], f"{row['failed']} of {row['of']} trials")
        yield f"{opened('', text or (row['failure'] or '').partition(':')[0])} [{row['audit']}]"


def _failed_requests(verdicts: Verdicts) -> Iterator[str]:
    rows = verdicts["failures"]
    apart = [row for row in rows if row["verdict"] in ("fails more", "fails less")]
    for row in apart[:_NAMED]:
        yield failure_sentence(row)
    if more := len(apart) - _NAMED if len(apart) > _NAMED else 0:
        yield f"Failures differ in {counted(more, 'more comparison')}: see the report"


def _disturbances(verdicts: Verdicts) -> Iterator[str]:
    found = verdicts.get("disturbances")
    if not found or found["typical"] is None:
        return
    changed = [row for row in found["without"] if row["verdict"] != row["all"]]
    effect = f"{len(changed)} answers change without them" if len(changed) > 1 else "1 answer changes without them"
    text = f"The machine disturbed {found['trials']} of {found['of']} trials"
    if changed:
        yield f"{text}; {effect}: h123 run --out DIR --retry"
    else:
        yield f"{text}, typically by up to {percent(round(found['typical'], 3))}; no answer changes without them"


def _twins(verdicts: Verdicts) -> Iterator[str]:
    twins = verdicts["twins"]
    if twins["comparisons"] and twins["expected"] is not None and twins["verdict"] != "as expected":
        yield (
            f"{twins['rejected']} of {twins['comparisons']} A/A comparisons found a difference (at most "
            f"{twins['most']} by chance): distrust small differences"
        )


def _machines(verdicts: Verdicts) -> Iterator[str]:
    yield from (opened("", line) for line in machine_lines(verdicts))


def _unverified(verdicts: Verdicts) -> Iterator[str]:
    for outcome, words in _UNVERIFIED.items():
        names = list(dict.fromkeys(row["subject"] for row in verdicts.get("unproved", []) if row["outcome"] == outcome))
        if names:
            shown = " ".join(names[:_NAMED]) + (" ..." if len(names) > _NAMED else "")
            yield f"{listed(names[:_NAMED], 'and')} {words}: h123 verify {shown}"


def _adverse_paths(verdicts: Verdicts) -> Iterator[str]:
    yield from (opened("", line) for line in adverse_path_lines(verdicts))


def _confounded(verdicts: Verdicts) -> Iterator[str]:
    for row in verdicts.get("confounded", []):
        yield f"{opened('', listed(row['together'], 'and'))} change together: their effects cannot be separated"


def _medians(verdicts: Verdicts) -> Iterator[str]:
    """Yield a line if the ratios of the table's medians disagree with the answer's sentences, which compare within
    blocks."""
    rows = [row for answer in answers(verdicts) for row in answer.rows for pair in row.ratios if row.parts(pair)]
    if rows:
        names = list(dict.fromkeys(cell_name(row.cell) for row in rows if row.cell))
        where = f" ({', '.join(names[:_NAMED])}{', ...' if len(names) > _NAMED else ''})" if names else ""
        yield f"Ratios of the medians differ from the paired differences, which are the answer{where}"


def _windows(verdicts: Verdicts) -> Iterator[str]:
    """Yield a line if the compared stacks begin with different congestion windows."""
    starts: dict[str, int] = {}
    for row in verdicts.get("windows", []):
        starts |= {row["a"]: row["a_packets"], row["b"]: row["b_packets"]}
    if len(set(starts.values())) < 2:
        return
    largest = max(starts, key=lambda name: starts[name])
    least = min(starts.values())
    matchable = all(row.get("matchable", True) for row in verdicts.get("windows", []))
    cure = "use --transport matched to equalise" if matchable else "h123 cannot equalise the windows of these stacks"
    yield f"{level(largest)} starts with a window of {starts[largest]} packets, the others with {least}; {cure}"


def _undecided(verdicts: Verdicts) -> Iterator[str]:
    comparisons, outlook = verdicts["comparisons"], verdicts["projection"]
    open_ones = [c for c in headline(comparisons) if c.get("projection") and not c["withheld"]]
    within = [projection for c in open_ones if (projection := c.get("projection")) and projection["blocks"]]
    blocks = outlook["blocks"]
    if not within or not blocks or verdicts.get("gate"):  # a gate has its own forecast, for its conditions
        return
    how = f"measure and import {blocks} blocks" if verdicts.get("origin") else f"h123 run --out DIR --blocks {blocks}"
    if all(projection["basis"] == "fewest" for projection in within):
        yield f"{blocks} blocks are the fewest that can decide the question: {how}"
        return
    every = len(within) == len(open_ones)
    which = "it" if len(open_ones) == 1 else f"{'all' if every else f'{len(within)} of the'} {len(open_ones)} undecided"
    yield f"About {blocks} blocks would decide {which}: {how}"


def _width(verdicts: Verdicts) -> Iterator[str]:
    width = verdicts["width"]
    if width and not width["narrow"]:
        widest = f"±{format_share(width['widest'])}" if width["widest"] is not None else "without bound"
        needed = (
            f"about {width['blocks']} blocks would do" if width["blocks"] else "no practical number of blocks would do"
        )
        yield f"Intervals are {widest}, not ±{format_share(width['wanted'])} as requested: {needed}"


def _elsewhere(verdicts: Verdicts) -> Iterator[str]:
    for row in verdicts.get("elsewhere", []):
        tcp, udp = (format_value(max(0, row[name]) / 1e9, "s") for name in ("tcp_ns", "udp_ns"))
        yield f"The gateway to {row['server']} adds {tcp} to a round trip over TCP and {udp} over UDP"


def _privileges(verdicts: Verdicts) -> Iterator[str]:
    if any(name != "root" for name in verdicts.get("privileges", [])):
        yield "Trials ran without root, which costs accuracy (docs/without-root.md)"


def _handshakes(verdicts: Verdicts) -> Iterator[str]:
    if verdicts.get("handshakes"):
        yield "CPU per request includes handshakes: the metrics cpu_warm and cpu_handshake separate them"


def _tails(verdicts: Verdicts) -> Iterator[str]:
    few = [row for row in verdicts.get("tails", []) if row["fewest"]]
    if few:
        names, fewest = metric_titles(row["metric"] for row in few), min(row["requests"] for row in few)
        rest = f"{listed(names, 'and')} {'rests' if len(names) == 1 else 'rest'} on"
        yield f"{rest} as few as {counted(fewest, 'request')} per trial: measure more requests"


def _seals(verdicts: Verdicts) -> Iterator[str]:
    if verdicts.get("unsealed"):
        yield f"{counted(verdicts['unsealed'], 'attempt')} without a seal: changes to their files go unnoticed"


def _imported(verdicts: Verdicts) -> Iterator[str]:
    if origin := verdicts.get("origin"):
        yield from (opened("", cost) for cost in origin["costs"])
