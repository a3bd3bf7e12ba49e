"""Measures whether `h123 what-if` finds a cause that the bench has made.

    PYTHONPATH=src .venv/bin/python bench/what_if.py [--seed N] [--cases 100] [--jobs N] [--keep DIR]

Each case compares two levels that differ in one setting, such as the initial window, over a drawn network, protocol and
load, under the virtual clock. The change that sets both sides to the same value must close the whole difference. Cases
in which the setting makes less than 5 % difference are void. Other changes may close part of the difference too, if
they interact with the cause: with half the delay, for example, a loss costs half. The bench lists how often that
happens.

Prints a line for each case and a table by kind. The exit status is 1 if the right change closes the whole difference,
within a tenth, in less than 95 % of the cases. 100 cases take about 40 minutes on 2 idle cores.
"""

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
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
from h123.study.interventions import BY_NAME, draft_what_if

LEAST_RIGHT = 0.95
NOTABLE = 0.05
"""The share of the time below which a difference is void."""
NEAR = 0.1


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


def _case(number: int, seed: int, place: Path, jobs: int | None) -> tuple[str, float | None, list[str]]:
    """Return the kind of a case, the share that the right change closes (None: void), and the other changes that close
    more than a tenth."""
    drawn = random.Random(f"{seed} {number}")
    kind = KINDS[number % len(KINDS)]
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
    drafted = DraftedStudy(asked.study, {}, study.seed, file.read_text("utf-8"), place)
    campaign = start_campaign(
        drafted, place / str(number), blocks=1, seed=None, level_filter={}, report=lambda _: None, vouch=lambda _: {}
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
        return kind.change, None, []
    shares = {change["change"]: change["share"]["share"] for change in row["changes"] if len(change["of"]) == 1}
    right = shares.pop(kind.change)
    others = [f"{name} {share:.0%}" for name, share in shares.items() if share > NEAR]
    print(
        f"{number:3} {kind.change:<18} {text:<28} closes {right:.1%}; others: {', '.join(others) or 'none'}", flush=True
    )
    return kind.change, right, others


def main() -> int:
    """Run the cases, print the results and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--cases", type=int, default=100, metavar="N")
    parser.add_argument("--jobs", type=int, metavar="N", help="trials at a time")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the campaigns in this folder")
    asked = parser.parse_args()
    for name in ("go", "virtual-kernel"):
        if name in catalogue():
            install(catalogue()[name], print)
    print(f"seed {asked.seed}, {asked.cases} cases")
    found: dict[str, list[tuple[float | None, list[str]]]] = defaultdict(list)
    with scratch() as folder:
        place = asked.keep or folder
        place.mkdir(parents=True, exist_ok=True)
        for number in range(asked.cases):
            kind, right, others = _case(number, asked.seed, place, asked.jobs)
            found[kind].append((right, others))
    print("\n| change | cases | void | close the whole difference | others close more than a tenth |")
    print("|---|---|---|---|---|")
    for kind, cases in found.items():
        counted = [(right, others) for right, others in cases if right is not None]
        whole = sum(abs(right - 1) <= NEAR for right, _ in counted)
        interacting = sum(bool(others) for _, others in counted)
        print(f"| {kind} | {len(cases)} | {len(cases) - len(counted)} | {whole} | {interacting} |")
    rights = [right for cases in found.values() for right, _ in cases if right is not None]
    share = sum(abs(right - 1) <= NEAR for right in rights) / max(1, len(rights))
    print(f"\n{share:.0%} of {len(rights)} cases that are not void: the right change closes the whole difference")
    return 0 if rights and share >= LEAST_RIGHT else 1


if __name__ == "__main__":
    sys.exit(main())
