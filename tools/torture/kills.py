"""Signals to any process of a command, at any moment."""

from rounds import Round
from strikes import Blow


def kills(this: Round) -> None:
    """One to three commands after one another, each with one to four signals to whatever of it runs."""
    this.begin()
    for _ in range(this.draws.choice([1, 1, 2, 3])):
        count = this.draws.choice([1, 1, 1, 2, 4])
        blows = [Blow.drawn(this.draws, this.reference.span_s / count) for _ in range(count)]
        whole, launcher = this.draws.random() < 0.4, this.draws.random() < 0.5
        command = this.start({0, 1, 130}, launcher=launcher) if whole else this.run(expected={0, 1, 130})
        this.notes += [blow.strike(command) for blow in blows]
        command.wait()
