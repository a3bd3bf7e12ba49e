"""A mischief with two commands on one folder."""

import itertools

from commands import CAMPAIGN
from reference_campaign import events
from rounds import Round
from strikes import Moment

_BEGINNINGS, _ENDS = ("campaign", "resume"), ("finished", "interrupted")
REFUSALS = ("another h123", "already holds a campaign", "is not a campaign")
"""What a second command may print. The last one is right if the first command has not begun the campaign yet."""
_SECOND = ("run", "run", "longer run", "analyse", "report", "export")


def company(this: Round) -> None:
    """Start a second command at a random moment. Only one of two runs may work on the folder; a command that only reads
    may always use it."""
    this.begin()
    moment, second = Moment.drawn(this.draws, this.reference.span_s), this.draws.choice(_SECOND)
    lanes = this.draws.choice(([], ["--jobs", "1"], ["--jobs", "2"]))
    first = this.run(*lanes, expected={0, 1, 2})
    moment.wait(first)
    if second == "longer run":
        this.blocks = 2
    if "run" in second:
        other = this.run(expected={0, 1, 2})
    else:
        other = this.commands.call(second, CAMPAIGN.name, expected={0, 1, 2})
    statuses = first.wait(), other.wait()
    this.notes.append(f"{second} beside it, {moment}: {statuses[0]} and {statuses[1]}")
    if all(statuses):
        this.wrong.append("neither of two commands ended well")
    for command in (first, other):
        if command.wait() and not any(refusal in command.said for refusal in REFUSALS):
            this.wrong.append(f"{command} did not say that it is the second: {command.said[-200:]!r}")
    if _together():
        this.wrong.append("a run began while another was at it")


def _together() -> bool:
    courses = [event["event"] for event in events(CAMPAIGN) if event["event"] in (*_BEGINNINGS, *_ENDS)]
    return any(one in _BEGINNINGS and other in _BEGINNINGS for one, other in itertools.pairwise(courses))
