"""Decides whether a trial runs again, and when. All limits are here.

A fault of a subject, the set-up or the link would most likely recur later too. So h123 repeats a trial with a fault at
once, at most twice; if trials keep failing, the campaign ends. A disturbance by the machine is not a fault: h123
repeats such a trial later, when the machine is calmer, as long as the campaign's patience lasts. If the machine never
becomes calm, the least disturbed attempt counts.
"""

from collections.abc import Sequence

from h123.documents.events import AttemptFacts
from h123.documents.shapes import Count, Seconds, Share
from h123.execution.wire import MessagePart

HOPELESS_AFTER = 3
"""The number of consecutive trials without a valid attempt, because of faults, after which waiting will not help."""


class Retries(MessagePart):
    """The largest number of attempts at a trial, by reason."""

    faults: Count = 3
    """The number of attempts with a fault after which the trial is given up."""
    disturbed: Count = 3
    """The number of valid but disturbed attempts after which the best of them counts."""
    ruined: Count = 6
    """The number of failed attempts, whatever the cause, after which the trial is given up."""


class Patience(MessagePart):
    """The time that a machine may spend on disturbed trials, and the noise below which it counts as calm."""

    repeating_share: Share = 0.15
    """The time that may be spent on repeating disturbed trials, as a fraction of the order's time so far."""
    waiting_share: Share = 0.1
    """The time that may be spent on waiting for a calmer machine, as a fraction of the order's time so far."""
    least_repeating_s: Seconds = 10.0
    least_waiting_s: Seconds = 3.0
    calm: Share = 0.02
    """The largest fraction of the processors' time that other programs may take on a machine that counts as calm."""
    pause_s: Seconds = 1.0
    """The pause in seconds before h123 again watches a machine that was not calm."""

    def repeating_s(self, took_s: float) -> float:
        """Return how many seconds the machine may spend on repeats, after trials that took `took_s`."""
        return max(self.least_repeating_s, self.repeating_share * took_s)

    def waiting_s(self, took_s: float) -> float:
        """Return how many seconds h123 may wait for a calmer machine, after trials that took `took_s`."""
        return max(self.least_waiting_s, self.waiting_share * took_s)

    def calm_enough(self, now: float, attempts: "Sequence[LiveAttempt]", limit: float) -> bool:
        """Return whether a repeat of the trial would probably be undisturbed at `now`, the machine's present noise, 0
        to 1. A trial's disturbance is assumed to be proportional to the noise."""
        last = attempts[-1]
        then, share = last.get("noise", 0.0), last.get("disturbance", 1.0)
        bearable: float = then * min(1.0, limit / share if share else 1.0)
        return now <= max(self.calm, bearable)


RETRIES, PATIENCE = Retries(), Patience()
"""The limits for a campaign."""
ONCE = Retries(faults=1, disturbed=1, ruined=1)
"""The limits for a caller that judges each attempt itself."""


class LiveAttempt(AttemptFacts, total=False):
    """An attempt, as a running campaign keeps it in memory."""

    forgiven: bool
    """Whether the attempt no longer counts against its trial."""


def tolerated(margin: float) -> float:
    """Return the largest fraction of a metric's value that may be due to the machine in an undisturbed trial.

    This is half the study's margin. With a margin of 5 %, the machine may account for 2.5 % of each trial, which
    changes the ratio of two undisturbed trials by at most 2.6 %.
    """
    return margin / 2


def clean(attempts: Sequence[LiveAttempt]) -> bool:
    """Return whether one of the attempts is valid and was not disturbed by the machine."""
    return any(event["valid"] and not event.get("disturbed") for event in attempts)


def usable(attempts: Sequence[LiveAttempt]) -> bool:
    """Return whether one of the attempts is valid, disturbed or not."""
    return any(event["valid"] for event in attempts)


def unsupported(attempts: Sequence[LiveAttempt]) -> bool:
    """Return whether the last attempt failed because the subject reported that it does not support the request."""
    return any(reason["code"] == "unsupported" for event in attempts[-1:] for reason in event["reasons"])


def given_up(attempts: Sequence[LiveAttempt], retries: Retries = RETRIES) -> bool:
    """Return whether no attempt at the trial is valid, and no further attempt will be made."""
    if usable(attempts):
        return False
    recent = _since_retry(attempts)
    faults = sum(not event.get("disturbed") for event in recent)
    return bool(recent) and (unsupported(recent) or faults >= retries.faults or len(recent) >= retries.ruined)


def disturbed(attempts: Sequence[LiveAttempt], retries: Retries = RETRIES) -> bool:
    """Return whether the trial should run again when the machine is calmer."""
    recent = _since_retry(attempts)
    if clean(attempts) or given_up(attempts, retries):
        return False
    if usable(attempts):
        return sum(bool(event["valid"]) for event in recent) < retries.disturbed
    return bool(recent and recent[-1].get("disturbed"))


def settled(attempts: Sequence[LiveAttempt], retries: Retries = RETRIES) -> bool:
    """Return whether the trial needs no further attempt for now."""
    return usable(attempts) or given_up(attempts, retries) or disturbed(attempts, retries)


def forgive(attempts: Sequence[LiveAttempt]) -> None:
    """Stop counting earlier attempts against their trials, because the user asked to try again."""
    for event in attempts:
        event["forgiven"] = True


def lose(event: LiveAttempt) -> None:
    """Record that the attempt's files are missing or changed. The attempt counts neither for nor against its trial."""
    event["valid"], event["forgiven"] = False, True


def _since_retry(attempts: Sequence[LiveAttempt]) -> list[LiveAttempt]:
    return [event for event in attempts if not event.get("forgiven")]
