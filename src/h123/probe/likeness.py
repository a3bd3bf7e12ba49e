"""Checks that the compared servers give the same responses: a build with smaller responses does less work, so it only
seems faster."""

from collections.abc import Mapping, Sequence

from h123.base.errors import UserError
from h123.base.terminal.redaction import hidden
from h123.probe.findings import Answer, ProtocolFindings
from h123.probe.inquiry import Inquiry
from h123.probe.judgement import TITLES, ServerAbilities

_TOLERATED = 0.01
"""The tolerated relative difference between the sizes of two responses."""
_NAMED = 2


def check_answers(abilities: Mapping[str, ServerAbilities], protocols: Sequence[str], inquiry: Inquiry) -> None:
    """Compare the responses of two builds over each protocol, or of one server over all protocols. Raises UserError if
    they differ."""
    sides: dict[str, dict[str, ProtocolFindings]] = {
        name: {each.protocol: each for each in server.spoken} for name, server in abilities.items()
    }
    if len(sides) == 1:
        (spoken,) = sides.values()
        unlike = [
            line
            for other in protocols[1:]
            for line in _unlike(inquiry, {TITLES[p]: spoken[p] for p in (protocols[0], other)}, "")
        ]
        who = "the protocols answer differently"
    else:
        unlike = [
            line
            for protocol in protocols
            for line in _unlike(
                inquiry, {name: spoken[protocol] for name, spoken in sides.items()}, f" over {TITLES[protocol]}"
            )
        ]
        who = "the builds answer differently"
    if not unlike:
        return
    more = f"; and {len(unlike) - _NAMED} more" if len(unlike) > _NAMED else ""
    raise UserError(
        f"{who}, so their times do not say which is faster: {'; '.join(unlike[:_NAMED])}{more}",
        remedy="make them answer alike; or add --answers-differ to compare them all the same",
    )


def _unlike(inquiry: Inquiry, sides: Mapping[str, ProtocolFindings], where: str) -> list[str]:
    """Return a line for each path whose responses differ."""
    (server, first), (other, second) = sides.items()
    pairs = zip(inquiry.site.paths, first.answers, second.answers, strict=False)
    return [
        f"{inquiry.method} {hidden(path)}{where}: {server} {_answer_words(mine)}, {other} {_answer_words(yours)}"
        for path, mine, yours in pairs
        if _differ(mine, yours)
    ]


def _differ(mine: Sequence[Answer], yours: Sequence[Answer]) -> bool:
    if {answer.status for answer in mine} != {answer.status for answer in yours}:
        return True
    some, others = ([answer.bytes for answer in answers] for answers in (mine, yours))
    if (0 in some) != (0 in others):
        return True
    low, high = sorted((some, others), key=max)
    if max(low) >= min(high):
        return False
    varies = len({*some}) > 1 or len({*others}) > 1
    return not varies or min(high) > max(low) * (1 + _TOLERATED)


def _answer_words(answers: Sequence[Answer]) -> str:
    """Describe responses: `200 with 240000 B`."""
    statuses = " or ".join(str(status) for status in dict.fromkeys(answer.status for answer in answers))
    least, most = min(answer.bytes for answer in answers), max(answer.bytes for answer in answers)
    return f"{statuses} with {f'{least} B' if least == most else f'{least} to {most} B'}"
