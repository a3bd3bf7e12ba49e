"""Mischiefs with time.

Only the machine has a time of day: no namespace has its own, and these mischiefs never change the machine's. Two things
can jump: the time since boot from one command to the next, as after a reboot, and all clocks as seen by processes that
were stopped.
"""

import signal
from pathlib import Path

from rounds import Round
from strikes import Blow, Moment, Pause, Target

_FAR_S = 10**9


def pauses(this: Round) -> None:
    """Stop processes for a while, as on a machine that is suspended or starved."""
    this.begin()
    count = this.draws.choice([1, 2, 4])
    made = [Pause.drawn(this.draws, this.reference.span_s / count) for _ in range(count)]
    command = this.run(expected={0, 1})
    this.notes += [pause.make(command) for pause in made]
    command.wait()


def another_uptime(this: Round) -> None:
    """Kill a command whose monotonic clock is far from that of the next command, in either direction."""
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
