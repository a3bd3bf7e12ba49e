"""One round: a campaign, a mischief that is drawn, the campaign gone on with, and a look at what came of it."""

import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import box
from commands import CAMPAIGN, STUDY, Command, Commands, Limits, NeverEnds
from reference import Reference, archive, extract, furnish
from traces import Traces
from wholeness import faults

TRIES = 6
"""Runs that may be needed to end a campaign: a trial that fails on a busy machine is tried again by `--retry`."""
_UNSTARTED = "Fatal Python error: init"
"""Python itself cannot start with so little: nothing of h123 has run."""
_DEFECTS = re.compile(r"Traceback \(most recent call last\)|panicked at|panic:|Segmentation fault")


@dataclass
class Round:
    """What a mischief works with."""

    number: int
    draws: random.Random
    reference: Reference
    blocks: int = 1
    """Of the campaign that is to be whole in the end."""
    commands: Commands = field(default_factory=Commands)
    notes: list[str] = field(default_factory=list)
    """What happened, in words."""
    harmed: set[str] = field(default_factory=set)
    """Attempts whose files a mischief has deleted or changed for good."""
    wrong: list[str] = field(default_factory=list)
    """What a mischief itself found amiss."""

    def begin(self) -> None:
        """Before the first command: no campaign, or one of a block that is to be extended by another."""
        if self.draws.random() < 0.4:
            self.take_up(1)
            self.blocks = 2

    def take_up(self, blocks: int) -> None:
        """A finished campaign to begin with."""
        extract(self.reference.campaigns[blocks], CAMPAIGN.parent)
        self.blocks = blocks

    def run(self, *more: str, expected: set[int]) -> Command:
        """Begin the campaign, or go on with it; without what it takes to load the tool, which is most of a round."""
        return self.commands.call(*self._words(*more), expected=expected)

    def start(
        self, expected: set[int], *, launcher: bool = False, limits: Limits | None = None, wrapper: Sequence[str] = ()
    ) -> Command:
        """The same, from the very beginning."""
        words = self._words()
        return self.commands.start(*words, expected=expected, launcher=launcher, limits=limits, wrapper=wrapper)

    def end(self) -> None:
        """Go on until the campaign is whole."""
        status = 0
        for _ in range(TRIES):
            begun = (CAMPAIGN / "campaign.json").exists()
            status = self.run(*(["--retry"] if status and begun else []), expected={0, 1}).wait()
            if status == 0:
                return

    def _words(self, *more: str) -> list[str]:
        study = [] if (CAMPAIGN / "campaign.json").exists() else [str(STUDY)]
        return ["run", *study, "--out", CAMPAIGN.name, "--blocks", str(self.blocks), *more]


@dataclass(frozen=True)
class Outcome:
    """What came of a round."""

    number: int
    mischief: str
    seconds: float
    notes: list[str]
    faults: list[str]
    """Empty if all is well."""
    remains: bytes | None
    """Everything of a round with faults, an archive."""


def play(seed: int, number: int, reference: Reference, only: str | None) -> Outcome:
    """The round of this seed and number, in a box of its own. `only`: this mischief instead of one that is drawn."""
    try:
        return box.inside(lambda: _play(seed, number, reference, only))
    except RuntimeError as error:  # a fault of this bench, which is to be mended, too
        return Outcome(number, only or "unknown", 0.0, [], [str(error)], None)


def _play(seed: int, number: int, reference: Reference, only: str | None) -> Outcome:
    from mischiefs import MISCHIEFS

    began = time.monotonic()
    draws = random.Random(f"{seed}/{number}")
    names = list(MISCHIEFS)
    drawn = draws.choices(names, [MISCHIEFS[name].weight for name in names])[0]
    furnish(reference.subject)
    before, this = Traces.now(), Round(number, draws, reference)
    try:
        MISCHIEFS[only or drawn].play(this)
        this.end()
        this.wrong += faults(CAMPAIGN, reference.trials[this.blocks], this.harmed)
    except NeverEnds as endless:
        this.wrong.append(str(endless))
    this.wrong += _answers(this.commands)
    this.wrong += [f"{len(names)} {kind} left, such as {names[:3]}" for kind, names in before.left().items()]
    told = [f"{command} -> {command.process.poll()}" for command in this.commands.all]
    for place, command in enumerate(this.commands.all, start=1):
        (box.PLACE / f"said-{place}").write_text(f"{command}\n{command.said}", encoding="utf-8")
    remains = archive(box.PLACE) if this.wrong else None
    return Outcome(number, only or drawn, time.monotonic() - began, this.notes + told, this.wrong, remains)


def _answers(commands: Commands) -> Iterator[str]:
    """What commands may not end with or say."""
    for command in commands.all:
        status = command.process.poll()
        allowed = command.expected | {-sent for sent in command.sent} | {128 + sent for sent in command.sent}
        if status not in allowed:
            yield f"{command} ended with {status}: {' / '.join(command.said.splitlines()[-3:])}"
        if _UNSTARTED in command.said:
            continue
        if found := _DEFECTS.search(command.said):
            yield f"{command}: {found[0]}: {' / '.join(command.said.splitlines()[-2:])}"
