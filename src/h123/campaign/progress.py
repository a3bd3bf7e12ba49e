"""What a person sees while a campaign runs: the trial, how far along, and the time left."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from h123.study import PlannedTrial
from h123.units import format_span


class Forecast:
    """Time left, from the plan's estimates corrected by what this campaign has measured so far.

    A treatment that has run is forecast by its own mean; one that has not, by its estimate times the ratio of measured
    to estimated seconds over all trials so far.
    """

    def __init__(self, estimates: dict[str, float]) -> None:
        self._estimates = estimates
        self._measured: dict[str, list[float]] = defaultdict(list)
        self._seconds = self._estimated = 0.0

    def learn(self, trial: PlannedTrial, seconds: float) -> None:
        self._measured[_treatment(trial)].append(seconds)
        self._seconds += seconds
        self._estimated += self._estimates[trial.id]

    def left(self, trials: Iterable[PlannedTrial]) -> float:
        """Seconds that `trials` will take."""
        correction = self._seconds / self._estimated if self._estimated else 1.0
        total = 0.0
        for trial in trials:
            known = self._measured.get(_treatment(trial))
            total += sum(known) / len(known) if known else self._estimates[trial.id] * correction
        return total


def _treatment(trial: PlannedTrial) -> str:
    return "/".join(trial.cell.values())


class Display(Protocol):
    """Told what happens; shows it. A context manager around the whole campaign.

    `end` gets the trial's journal event.
    """

    def __enter__(self) -> "Display": ...
    def __exit__(self, *exc: object) -> None: ...
    def begin(self, trial: PlannedTrial, attempt: int, done: int, total: int, left: float) -> None: ...
    def end(self, event: dict[str, Any]) -> None: ...


class LiveDisplay:
    """One line that is redrawn, for a terminal; failed trials scroll above it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None, left="")

    def __enter__(self) -> "LiveDisplay":
        self._progress.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._progress.stop()

    def begin(self, trial: PlannedTrial, attempt: int, done: int, total: int, left: float) -> None:
        again = f" (attempt {attempt})" if attempt > 1 else ""
        self._progress.update(
            self._task,
            description=f"{trial.id}{again}",
            completed=done,
            total=total,
            left=f"{format_span(left)} left",
        )

    def end(self, event: dict[str, Any]) -> None:
        for reason in event["reasons"]:
            self._console.print(f"[yellow]{event['trial']}: invalid: {reason['code']}[/]: ", end="")
            self._console.print(reason["detail"], markup=False)


class LineDisplay:
    """One line a trial, for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._head = ""

    def __enter__(self) -> "LineDisplay":
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def begin(self, trial: PlannedTrial, attempt: int, done: int, total: int, left: float) -> None:
        again = f" attempt {attempt}" if attempt > 1 else ""
        self._head = f"[{done + 1}/{total}, {format_span(left)} left] {trial.id}{again}"

    def end(self, event: dict[str, Any]) -> None:
        outcome = "; ".join(f"INVALID {r['code']}: {r['detail']}" for r in event["reasons"]) or "ok"
        line = f"{self._head}: {event['seconds']:.1f} s, {outcome}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def display_for(console: Console) -> Display:
    """The display that fits `console`."""
    return LiveDisplay(console) if console.is_terminal else LineDisplay(console)
