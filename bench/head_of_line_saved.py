"""Prints the tables of docs/results/head-of-line.md from campaigns of the studies `head-of-line` and
`head-of-line-pages`.

    PYTHONPATH=src .venv/bin/python bench/head_of_line_saved.py CAMPAIGN [PAGES]

Over HTTP/2, the delay of other requests is also computed from packets (handed_on.py). The packets distinguish data that
had arrived and was held back from data that was sent later. The exit status is 1 if the two results differ by more than
1 %, or if trials without a loss differ from their twins.
"""

import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from handed_on import Count, Stream, counted

from h123.base.terminal.markdown import NOTHING, table
from h123.base.units import format_seconds
from h123.measures import Attempt, load_attempts
from h123.measures.blocking import Blocking, blocking_of, later_by
from h123.store import CampaignFolder
from h123.store.rows import Rows

WITHIN = 0.01
Groups = Mapping[tuple[str, ...], list[Attempt]]


class Campaign:
    """A campaign's trials, and for each trial with a lost packet the same trial without the loss."""

    def __init__(self, path: Path) -> None:
        self.folder = CampaignFolder.open(path)
        self.attempts = load_attempts(self.folder)
        (self.along,) = {"load", "site"} & self.attempts[0].cell.keys()
        self.without = {self._place(one): one for one in self.attempts if one.cell["losses"] == "none"}

    def _place(self, one: Attempt) -> tuple[object, ...]:
        return one.block, one.cell["protocol"], one.cell[self.along], one.twin

    def path(self, one: Attempt) -> Path:
        return self.folder.path / "trials" / one.name

    def grouped(self, losses: str) -> Groups:
        """Return the trials with these losses, by load or site and by protocol, without twins."""
        groups: dict[tuple[str, ...], list[Attempt]] = defaultdict(list)
        for one in self.attempts:
            if one.cell["losses"] == losses and not one.twin:
                groups[one.cell[self.along], one.cell["protocol"]].append(one)
        return groups

    def blocking(self, one: Attempt) -> Blocking | None:
        """Return the cost of a trial's lost packet, or None if the campaign has no such trial without the loss."""
        beside = self.without.get(self._place(one))
        return blocking_of(self.path(one), self.path(beside), one.workload.statuses()) if beside else None

    def count(self, one: Attempt) -> Count:
        """Return the cost of the lost packet of a trial over HTTP/2, computed from packets."""
        beside = self.without[self._place(one)]
        streams = [Stream.of(self.path(each), each.report.main_began_ns) for each in (one, beside)]
        ended = Rows.read(self.path(beside) / "samples.parquet")["end_ns"]
        return counted(*streams, [end - beside.report.main_began_ns for end in ended.values.tolist()])

    def unlike_twins(self) -> dict[str, float]:
        """Return, for each trial without a loss, how many seconds longer its requests took in total than in its
        twin."""
        twins = [(one, self.without.get((*self._place(one)[:3], True))) for one in self.without.values()]
        return {
            one.name: sum(later_by(self.path(one), self.path(twin), one.workload.statuses()) or [0]) / 1e9
            for one, twin in twins
            if twin and not one.twin
        }


def main(campaign: Path, pages: Path | None = None) -> int:
    """Print the tables, and return exit status 1 if a result is beyond what the page states."""
    wrong = []
    for path in filter(None, (campaign, pages)):
        found = Campaign(path)
        print("\n".join([*table(list(_costs(found))), ""]))
        if found.along == "site":
            print("\n".join([*table(list(_complete(found))), ""]))
        else:
            rows = list(_counted(found))
            print("\n".join([*table([row for row, _ in rows]), ""]))
            wrong += [f"{row['load']}" for row, differs in rows if differs > WITHIN]
        unlike = found.unlike_twins()
        worst = max(unlike.values(), default=0.0)
        print(f"{len(unlike)} pairs of trials that lost nothing: at most {format_seconds(worst)} between them\n")
        wrong += [name for name, seconds in unlike.items() if seconds]
    print("beyond what the page states: " + ", ".join(wrong) if wrong else "all within 1 %", file=sys.stderr)
    return 1 if wrong else 0


def _costs(campaign: Campaign) -> Iterator[dict[str, str]]:
    """Yield a row for each load or site and protocol, with the cost of a lost packet."""
    for (along, protocol), trials in campaign.grouped("one").items():
        found = [blocking for one in trials if (blocking := campaign.blocking(one))]
        others = sorted(one.others / 1e9 for one in found)
        shares = [one.others / one.together for one in found]
        yield {
            campaign.along: along,
            "protocol": protocol,
            "losses": f"{len(found)}",
            "its own request": _median([one.own / 1e9 for one in found]),
            "other requests, together": _spread(others),
            "of all requests' time": f"{statistics.median(shares):.1%}" if shares else NOTHING,
        }


def _median(values: Sequence[float]) -> str:
    return format_seconds(statistics.median(values)) if values else NOTHING


def _spread(values: Sequence[float]) -> str:
    """Format values as `median (quartiles; most)`."""
    if len(values) < 2 or not any(values):
        return _median(values)
    low, middle, high = (format_seconds(one) for one in statistics.quantiles(values, n=4, method="inclusive"))
    return f"{middle} ({low} to {high}; most {format_seconds(values[-1])})"


def _complete(campaign: Campaign) -> Iterator[dict[str, str]]:
    """Yield a row for each site and protocol: when a page was complete, under each kind of losses."""
    by_losses = {losses: campaign.grouped(losses) for losses in ("none", "one", "own")}
    for site, protocol in by_losses["none"]:
        times = {
            losses: {one.block: one.metrics["page_complete"] for one in groups[site, protocol]}
            for losses, groups in by_losses.items()
        }
        longer = [
            ratio / whole - 1
            for block, ratio in times["one"].items()
            if ratio and (whole := times["none"].get(block)) is not None
        ]
        yield {
            "site": site,
            "protocol": protocol,
            "complete, nothing lost": _median([*filter(None, times["none"].values())]),
            "one packet": f"{statistics.median(longer):+.1%} (most {max(longer):+.1%})" if longer else NOTHING,
            "the network's losses": _median([*filter(None, times["own"].values())]),
        }


def _counted(campaign: Campaign) -> Iterator[tuple[dict[str, str], float]]:
    """Yield a row for each load over HTTP/2 that compares the metric with the packets, and by what share they
    differ."""
    for (along, protocol), trials in campaign.grouped("one").items():
        if protocol != "h2":
            continue
        told = [(one, blocking) for one in trials if (blocking := campaign.blocking(one))]
        counts = [campaign.count(one) for one, _ in told]
        metric, packets = sum(blocking.others for _, blocking in told) / 1e9, sum(one.others for one in counts) / 1e9
        held = sum(one.held for one in counts) / 1e9
        differs = abs(metric - packets) / packets if packets else float(metric > 0)
        row = {
            campaign.along: along,
            "losses": f"{len(told)}",
            "by the client's times": format_seconds(metric),
            "by the packets": format_seconds(packets),
            "difference": f"{differs:.2%}",
            "held back behind the hole": format_seconds(held),
            "of it": f"{held / packets:.0%}" if packets else NOTHING,
        }
        yield row, differs


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
