"""Jumps of time.

The time of day is the machine's alone: no namespace has its own, and the machine's is never changed here. What can jump
is the time since the boot, from one command to the next as after a reboot, and all clocks as seen by who stood still.
"""

import signal
from pathlib import Path

from rounds import Round
from strikes import Blow, Moment, Pause, Target

_FAR_S = 10**9


def pauses(this: Round) -> None:
    """Processes stand still for a while, as in a machine that is suspended or starved."""
    this.begin()
    count = this.draws.choice([1, 2, 4])
    made = [Pause.drawn(this.draws, this.reference.span_s / count) for _ in range(count)]
    command = this.run(expected={0, 1})
    this.notes += [pause.make(command) for pause in made]
    command.wait()


def another_uptime(this: Round) -> None:
    """A command is killed whose monotonic clock is far off that of the next one, in either direction."""
    this.begin()
    up_s = float(Path("/proc/uptime").read_text().split()[0])
    offsets = [this.draws.choice([-(up_s - 1), _FAR_S]) * this.draws.random() for _ in range(2)]
    everything = Target(None, 0.0)
    blow = Blow(Moment.drawn(this.draws, this.reference.span_s), everything, signal.SIGKILL)
    elsewhen = ["unshare", "--time", "--fork", "--kill-child"]
    elsewhen += [f"--{clock}={offset:.0f}" for clock, offset in zip(("monotonic", "boottime"), offsets, strict=True)]
    command = this.start({0, 1}, wrapper=elsewhen)
    this.notes.append(f"clocks off by {offsets[0]:.0f} s and {offsets[1]:.0f} s; {blow.strike(command)}")
    command.wait()
