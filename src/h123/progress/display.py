"""Shows progress while trials run: the trial, how far the campaign is, and the remaining time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NotRequired, Protocol, TypedDict

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from h123.base.units import counted, format_span
from h123.documents import Reason
from h123.measures import EndedTrial

NAMES_SHOWN = 3
"""The largest number of simultaneous trials that the display names."""
EVERY_TRIALS, EVERY_S = 10, 30.0
"""The number of trials, or the time in s, after which a new line is printed without a terminal."""
_DISTURBED = "by other work on the machine; repeated at the end if there is time"
WIDTH = 100
"""The maximum length, in characters, of the line with the estimates so far, unless the first estimate alone is
longer."""


@dataclass(frozen=True)
class InterimEstimate:
    """A ratio from the trials so far, which is not final."""

    pair: str
    """The two levels: `h3/h2`."""
    metric: str
    cell: str
    """The levels of the other factors."""
    ratio: float


@dataclass(frozen=True)
class Standing:
    """The progress of a campaign."""

    running: list[str]
    """Names of the running attempts, oldest first."""
    done: int
    total: int
    left_s: float
    blocks_done: int = 0
    blocks: int = 0
    so_far: Sequence[InterimEstimate] = ()
    ended: EndedTrial | None = None


class AttemptOutcome(TypedDict):
    """The outcome of an attempt, as the display shows it."""

    trial: str
    attempt: int
    reasons: list[Reason]
    seconds: float | None
    disturbed: NotRequired[bool]
    disturbance: NotRequired[float | None]


class Display(Protocol):
    """A display of progress. It is a context manager around the whole campaign.

    The campaign calls `show` when an attempt begins, `end` with the journal's event when one has ended, and `say` to
    report what it does instead of running trials.
    """

    def __enter__(self) -> "Display": ...
    def __exit__(self, *exc: object) -> None: ...
    def show(self, standing: Standing) -> None: ...
    def end(self, event: AttemptOutcome, standing: Standing) -> None: ...
    def say(self, text: str, standing: Standing) -> None: ...


class _Blocks:
    """A counter that detects when another block is complete."""

    def __init__(self, interim: bool) -> None:
        self._interim = interim
        self._blocks_done = 0

    def completed(self, standing: Standing) -> list[str]:
        """Return the estimates so far in one line, or nothing if no block has been completed since the last call, or if
        all are complete: the answer follows."""
        if standing.blocks_done <= self._blocks_done or not (self._interim and standing.so_far):
            return []
        self._blocks_done = standing.blocks_done
        if self._blocks_done >= standing.blocks:
            return []
        head = f"estimated ratios so far, not final ({self._blocks_done} of {standing.blocks} blocks complete)"
        return [_fitting(head, standing.so_far)]


def _fitting(head: str, estimates: Sequence[InterimEstimate]) -> str:
    """Return the estimates that fit into one line, and the number of the others."""
    number = min(len(estimates), WIDTH)
    while True:
        more = [f"and {counted(len(estimates) - number, 'more comparison')}"] if number < len(estimates) else []
        line = f"{head}: {'; '.join([*_pairs(estimates[:number]), *more])}"
        if len(line) <= WIDTH or number == 1:
            return line
        number -= 1


def _pairs(estimates: Sequence[InterimEstimate]) -> list[str]:
    """Return a string for each pair: `h3/h2 latency: lan 1.32, poor 0.76`."""
    pairs: dict[str, list[str]] = {}
    for estimate in estimates:
        pairs.setdefault(f"{estimate.pair} {estimate.metric}", []).append(
            f"{estimate.cell} {estimate.ratio:.2f}".strip()
        )
    return [f"{head}: {', '.join(ratios)}" for head, ratios in pairs.items()]


class LiveDisplay:
    """A display for terminals: a line that is redrawn. Failed trials and estimates so far scroll above it."""

    def __init__(self, console: Console, *, interim: bool = True) -> None:
        self._console = console
        self._blocks = _Blocks(interim)
        self._progress = Progress(
            TextColumn("{task.fields[blocks]}"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None, left="", blocks="")

    def __enter__(self) -> "LiveDisplay":
        self._progress.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._progress.stop()

    def show(self, standing: Standing) -> None:
        self.say(_listed(standing.running), standing)

    def say(self, text: str, standing: Standing) -> None:
        self._progress.update(
            self._task,
            description=text,
            blocks=f"block {min(standing.blocks_done + 1, standing.blocks)} of {standing.blocks}"
            if standing.blocks
            else "",
            completed=standing.done,
            total=standing.total,
            left=f"{format_span(standing.left_s)} left",
        )

    def end(self, event: AttemptOutcome, standing: Standing) -> None:
        self.show(standing)
        for reason in event["reasons"]:
            head = Text(f"{event['trial']}: invalid: {reason['code']}", style="yellow")
            self._console.print(head.append(f": {reason['detail']}", style="default"))
        for line in self._blocks.completed(standing):
            self._console.print(line, style="dim")


class LineDisplay:
    """A display that prints one line every ten trials or thirty seconds, for logs and pipes.

    For each reason for failure, it prints the first attempt that failed. It counts failed attempts, disturbed attempts
    and repeats.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic, *, interim: bool = True) -> None:
        self._console = console
        self._clock = clock
        self._blocks = _Blocks(interim)
        self._said: tuple[int, str] | None = None
        self._said_at = self._printed_at = clock()
        self._ended = self._disturbed = self._failed = self._repeats = 0
        self._latest: Standing | None = None
        self._whole = self._explained = False
        self._reasons: set[str] = set()

    def __enter__(self) -> "LineDisplay":
        return self

    def __exit__(self, *exc: object) -> None:
        if self._ended and self._latest and not any(exc):
            self._count(self._latest)

    def show(self, standing: Standing) -> None:
        pass

    def say(self, text: str, standing: Standing) -> None:
        """Print the text, unless the same text, apart from a number at its beginning, has just been printed."""
        same = standing.done, text.lstrip("0123456789")
        if same != self._said or self._clock() - self._said_at >= EVERY_S:
            self._said, self._said_at = same, self._clock()
            self._print(f"[{standing.done}/{standing.total}] {text}")

    def end(self, event: AttemptOutcome, standing: Standing) -> None:
        self._ended += 1
        self._disturbed += bool(event.get("disturbed"))
        self._failed += bool(event["reasons"])
        self._repeats += event["attempt"] > 1
        self._latest = standing
        for reason in event["reasons"]:
            if reason["code"] not in self._reasons:
                self._reasons.add(reason["code"])
                self._print(f"{event['trial']}: invalid, {reason['code']}: {reason['detail']}")
        last = standing.done == standing.total and not self._whole
        self._whole = self._whole or last
        if self._ended >= EVERY_TRIALS or self._clock() - self._printed_at >= EVERY_S or last:
            self._count(standing)

    def _count(self, standing: Standing) -> None:
        self._ended = 0
        self._printed_at = self._clock()
        self._print(self._progress(standing))

    def _progress(self, standing: Standing) -> str:
        """Format the progress: `[40/144, 5 min 3 s left] 2 disturbed, 1 repeated; estimated ratios so far ...`"""
        disturbed = "disturbed" if self._explained else f"disturbed ({_DISTURBED})"
        self._explained = self._explained or self._disturbed > 0
        numbers = {disturbed: self._disturbed, "repeated": self._repeats, "invalid": self._failed}
        counts = ", ".join(f"{number} {what}" for what, number in numbers.items() if number)
        notes = [counts, *self._blocks.completed(standing)]
        head = f"[{standing.done}/{standing.total}, {format_span(standing.left_s)} left]"
        return " ".join([head, "; ".join(filter(None, notes))]).rstrip()

    def _print(self, line: str) -> None:
        self._console.print(line, soft_wrap=True)


class NoDisplay:
    """A display that shows nothing."""

    def __enter__(self) -> "NoDisplay":
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def show(self, standing: Standing) -> None:
        pass

    def end(self, event: AttemptOutcome, standing: Standing) -> None:
        pass

    def say(self, text: str, standing: Standing) -> None:
        pass


def _listed(names: list[str]) -> str:
    """List up to three names, and the number of any others, to fit into one line."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def display_for(console: Console, *, quiet: bool = False, interim: bool = True) -> Display:
    """Return the display that suits `console`, or NoDisplay if `quiet`. `interim`: whether to show estimates so far."""
    if quiet:
        return NoDisplay()
    return LiveDisplay(console, interim=interim) if console.is_terminal else LineDisplay(console, interim=interim)
