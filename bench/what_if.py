"""Measures whether `h123 what-if` finds a cause that the bench has made.

    PYTHONPATH=src .venv/bin/python bench/what_if.py [--seed N] [--cases 100] [--first N] [--jobs N] [--keep DIR]

Each case compares two levels that differ in one setting, such as the initial window, over a drawn network, protocol and
load, under the virtual clock. The change that sets both sides to the same value must close the whole difference. Cases
in which the setting makes less than 5 % difference are void.

Another change that acts on the same mechanism (`MECHANISMS`) may close part of the difference too: with half the delay,
for example, a loss costs half. Of these, a case makes only one. All other changes must close at most a tenth.

Prints a line for each case and a table by kind. The exit status is 1 if the right change closes the whole difference,
within a tenth, in less than 95 % of the cases, or if an unrelated change closes more than a tenth in more than 5 %.
"""

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from h123.analysis import analyse
from h123.base.files.scratch import scratch
from h123.base.terminal.console import err_console
from h123.campaign import DraftedStudy, run_campaign, start_campaign
from h123.catalogue import catalogue, install
from h123.execution import LocalPool, check_trials
from h123.progress import display_for
from h123.study import Parameters, load_study
from h123.study.interventions import AS_IS, BY_NAME, FACTOR, draft_what_if

LEAST_RIGHT = 0.95
NOTABLE = 0.05
"""The share of the time below which a difference is void."""
NEAR = 0.1
MECHANISMS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "no-loss": "losses",
        "no-queue-limit": "losses queue",
        "half-round-trip": "losses queue window handshake trips",
        "no-cross-traffic": "losses queue window trips handshake",
        "window-32": "losses window queue",
        "no-pacing": "window queue",
        "full-packets": "losses window queue size",
        "full-packets-ipv6": "losses window queue size",
        "early-timeout": "losses",
        "quick-ack": "losses window",
        "own-connections": "losses queue window handshake",
        "resumed": "handshake queue",
        "small-certificate": "handshake queue size",
        "bbr": "losses queue window",
        "cubic": "losses queue window",
    }.items()
}
"""What each change acts on: how many packets are lost and what a loss costs (less after a larger window), the link's
queue, how fast the window grows, the handshake, the delay, the packets' size. The packets of a handshake wait behind
cross traffic, and a large certificate can fill the queue."""


@dataclass(frozen=True)
class Kind:
    """A setting that differs between the two levels, and the change that makes it equal."""

    change: str
    having: Any
    """The value of the level that has the cause. The other level has the value that the change sets."""
    protocols: Sequence[str]
    networks: Sequence[str]
    metric: str = "latency"
    others: tuple[tuple[str, Any], ...] = ()
    """Further settings."""


LOSSY = ("medium", "poor", "cellular")
ALL = ("h1", "h2", "h3")
LOSSLESS = (("losses", "none"),)
KINDS = (
    Kind("no-loss", "own", ALL, LOSSY),
    Kind("no-queue-limit", "own", ("h2", "h3"), ("medium", "poor"), others=(*LOSSLESS, ("size", "1MB"))),
    Kind("half-round-trip", "own", ALL, LOSSY, others=LOSSLESS),
    Kind("no-cross-traffic", "own", ("h2", "h3"), ("us-us-busy",)),
    Kind("window-32", 10, ("h2", "h3"), LOSSY, "cold_latency", LOSSLESS),
    Kind("full-packets", 1252, ("h2", "h3"), LOSSY, others=LOSSLESS),
    Kind("early-timeout", None, ("h2",), LOSSY),
    Kind("own-connections", "shared", ("h2", "h3"), LOSSY),
    Kind("small-certificate", "12kB", ("h3",), LOSSY, "cold_latency", LOSSLESS),
    Kind("bbr", "cubic", ("h1", "h2"), LOSSY),
)


def _study(kind: Kind, drawn: random.Random) -> dict[str, Any]:
    each = BY_NAME[kind.change]
    settings = {
        "server": "go",
        "client": "go",
        "clock": "virtual",
        "protocol": drawn.choice(kind.protocols),
        "network": drawn.choice(kind.networks),
        "size": drawn.choice(["20kB", "100kB", "300kB"]),
        "users": drawn.choice([2, 4]),
        "requests": drawn.choice([3, 6]),
        **dict(kind.others),
    }
    # YAML cannot say 25 ms as a plain number of nanoseconds.
    value = "25ms" if each.parameter == "min_rto" else each.value
    return {
        "h123": "study/1",
        "name": "made",
        "question": "What makes the difference?",
        "factors": {"level": {"having": {each.parameter: kind.having}, "lacking": {each.parameter: value}}},
        "settings": settings,
        "compare": {
            "factor": "level",
            "pairs": ["having/lacking"],
            "twin": "having",
            "families": [{"name": "all", "correction": "holm", "metrics": ["latency", "cold_latency"]}],
        },
        "blocks": 1,
        "seed": drawn.randrange(2**32),
    }


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case. A void case closes None."""

    kind: str
    closes: float | None = None
    related: Sequence[str] = ()
    """Other changes that act on the same mechanism and close more than a tenth."""
    unrelated: Sequence[str] = ()
    """All others that close more than a tenth."""


def _case(number: int, seed: int, place: Path, jobs: int | None) -> Outcome:
    drawn = random.Random(f"{seed} {number}")
    kind = KINDS[number % len(KINDS)]
    uploads = place / "uploads"
    uploads.mkdir(exist_ok=True)
    file = place / f"{number}.yaml"
    content = _study(kind, drawn)
    file.write_text(yaml.safe_dump(content), "utf-8")
    study = load_study(file)

    def refusal(treatments: Sequence[Parameters]) -> str | None:
        try:
            check_trials(treatments)
        except Exception as error:
            return str(error)
        return None

    asked = draft_what_if(study, {}, "having/lacking", refusal=refusal)
    kept = {FACTOR: [AS_IS, *_measured(kind, [name for name in asked.study.factors[FACTOR] if name in BY_NAME], drawn)]}
    drafted = DraftedStudy(asked.study, kept, study.seed, file.read_text("utf-8"), uploads)
    campaign = start_campaign(
        drafted, place / str(number), blocks=1, seed=None, level_filter=kept, report=lambda _: None, vouch=lambda _: {}
    )
    run_campaign(
        campaign, LocalPool(campaign.folder.arrivals, campaign.folder.tls), display_for(err_console, quiet=True), jobs
    )
    rows = analyse(campaign.folder).get("changes", [])
    row = next((row for row in rows if row["metric"] == kind.metric), None)
    settings = content["settings"]
    text = f"{settings['protocol']} {settings['network']} {settings['size']} {settings['users']}x{settings['requests']}"
    if row is None or abs(row["difference"]["seconds"]) < NOTABLE * max(row["a_seconds"], row["b_seconds"]):
        print(f"{number:3} {kind.change:<18} {text:<28} void", flush=True)
        return Outcome(kind.change)
    shares = {change["change"]: change["share"]["share"] for change in row["changes"] if len(change["of"]) == 1}
    right = shares.pop(kind.change)
    others = {name: f"{name} {share:.0%}" for name, share in shares.items() if share > NEAR}
    related = [text for name, text in others.items() if MECHANISMS[name] & MECHANISMS[kind.change]]
    unrelated = [text for text in others.values() if text not in related]
    listed = f"related: {', '.join(related) or 'none'}; unrelated: {', '.join(unrelated) or 'none'}"
    print(f"{number:3} {kind.change:<18} {text:<28} closes {right:.1%}; {listed}", flush=True)
    return Outcome(kind.change, right, related, unrelated)


def main() -> int:
    """Run the cases, print the results and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--cases", type=int, default=100, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first case")
    parser.add_argument("--jobs", type=int, metavar="N", help="trials at a time")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the campaigns in this folder")
    asked = parser.parse_args()
    for name in ("go", "virtual-kernel"):
        if name in catalogue():
            install(catalogue()[name], print)
    print(f"seed {asked.seed}, {asked.cases} cases")
    found = list[Outcome]()
    with scratch() as folder:
        place = asked.keep or folder
        place.mkdir(parents=True, exist_ok=True)
        for number in range(asked.first, asked.first + asked.cases):
            found.append(_case(number, asked.seed, place, asked.jobs))
    print("\n| change | cases | void | closes the whole difference | related close a tenth | unrelated close a tenth |")
    print("|---|---|---|---|---|---|")
    for kind in dict.fromkeys(outcome.kind for outcome in found):
        its = [outcome for outcome in found if outcome.kind == kind]
        print(f"| {kind} | {len(its)} | {' | '.join(map(str, _counts(its)))} |")
    void, right, related, unrelated = _counts(found)
    judged = len(found) - void
    print(
        f"\nOf {judged} cases that are not void: the right change closes the whole difference in {right}, a related one"
        f" more than a tenth in {related}, an unrelated one more than a tenth in {unrelated}"
    )
    return 0 if judged and right >= LEAST_RIGHT * judged and unrelated <= (1 - LEAST_RIGHT) * judged else 1


def _measured(kind: Kind, changes: Sequence[str], drawn: random.Random) -> list[str]:
    """Return the changes that a case makes: the right one, all unrelated ones and, to save time, one related one."""
    related = [name for name in changes if MECHANISMS[name] & MECHANISMS[kind.change] and name != kind.change]
    made = drawn.choice(related) if related else None
    return [name for name in changes if name == made or name not in related]


def _counts(outcomes: Sequence[Outcome]) -> tuple[int, int, int, int]:
    """Return how many cases are void, how many the right change closes, and in how many a related and an unrelated
    change close more than a tenth."""
    return (
        sum(outcome.closes is None for outcome in outcomes),
        sum(outcome.closes is not None and abs(outcome.closes - 1) <= NEAR for outcome in outcomes),
        sum(bool(outcome.related) for outcome in outcomes),
        sum(bool(outcome.unrelated) for outcome in outcomes),
    )


if __name__ == "__main__":
    sys.exit(main())
