"""A mischief that sends signals to any process of a command, at any moment."""

from rounds import Round
from strikes import Blow


def kills(this: Round) -> None:
    """Run one to three commands, and send one to four signals to processes of each."""
    this.begin()
    for _ in range(this.draws.choice([1, 1, 2, 3])):
        count = this.draws.choice([1, 1, 1, 2, 4])
        blows = [Blow.drawn(this.draws, this.reference.span_s / count) for _ in range(count)]
        whole, launcher = this.draws.random() < 0.4, this.draws.random() < 0.5
        command = this.start({0, 1, 130}, launcher=launcher) if whole else this.run(expected={0, 1, 130})
        this.notes += [blow.strike(command) for blow in blows]
        command.wait()
