"""Plays one round: it starts a campaign, applies a mischief, resumes the campaign, and checks the result."""

import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import box
from commands import CAMPAIGN, STUDY, Command, Commands, Limits, NeverEnds
from reference_campaign import Reference, archive, extract, furnish
from traces import Traces
from wholeness import faults

TRIES = 6
"""The maximum number of runs to complete a campaign. `--retry` repeats trials that failed on a busy machine."""
_UNSTARTED = "Fatal Python error: init"
"""What Python prints if it cannot even start with so little. No code of h123 has run then."""
_DEFECTS = re.compile(r"Traceback \(most recent call last\)|panicked at|panic:|Segmentation fault")


@dataclass
class Round:
    """A round in progress, with everything that a mischief uses."""

    number: int
    draws: random.Random
    reference: Reference
    blocks: int = 1
    """The number of blocks that the campaign must have in the end."""
    commands: Commands = field(default_factory=Commands)
    notes: list[str] = field(default_factory=list)
    """What happened, in words."""
    harmed: set[str] = field(default_factory=set)
    """Attempts whose files a mischief has deleted or changed permanently."""
    wrong: list[str] = field(default_factory=list)
    """Faults that the mischief itself found."""

    def begin(self) -> None:
        """Prepare for the first command: with no campaign, or with a campaign of one block that a second block will
        extend."""
        if self.draws.random() < 0.4:
            self.take_up(1)
            self.blocks = 2

    def take_up(self, blocks: int) -> None:
        """Begin with a finished campaign."""
        extract(self.reference.campaigns[blocks], CAMPAIGN.parent)
        self.blocks = blocks

    def run(self, *more: str, expected: set[int]) -> Command:
        """Begin or resume the campaign in a fork. This saves loading h123, which would take most of a round."""
        return self.commands.call(*self._words(*more), expected=expected)

    def start(
        self, expected: set[int], *, launcher: bool = False, limits: Limits | None = None, wrapper: Sequence[str] = ()
    ) -> Command:
        """Begin or resume the campaign in a new process."""
        words = self._words()
        return self.commands.start(*words, expected=expected, launcher=launcher, limits=limits, wrapper=wrapper)

    def end(self) -> None:
        """Resume the campaign until it is whole."""
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
    """The outcome of a round."""

    number: int
    mischief: str
    seconds: float
    notes: list[str]
    faults: list[str]
    """What went wrong. Empty if all is well."""
    remains: bytes | None
    """An archive of everything from a round with faults."""


def play(seed: int, number: int, reference: Reference, only: str | None) -> Outcome:
    """Play the round of this seed and number in a new box. `only`: use this mischief instead of a random one."""
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
    """Yield the commands that ended with a wrong status or printed a sign of a defect."""
    for command in commands.all:
        status = command.process.poll()
        allowed = command.expected | {-sent for sent in command.sent} | {128 + sent for sent in command.sent}
        if status not in allowed:
            yield f"{command} ended with {status}: {' / '.join(command.said.splitlines()[-3:])}"
        if _UNSTARTED in command.said:
            continue
        if found := _DEFECTS.search(command.said):
            yield f"{command}: {found[0]}: {' / '.join(command.said.splitlines()[-2:])}"
