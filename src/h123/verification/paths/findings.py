"""Defines what packets show about a sender on paths that interfere with ECN or limit the size of packets."""

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import Field

from h123.base.strict import Strict
from h123.catalogue import QUIC
from h123.documents.campaign_file import VerifiedRole
from h123.verification.result import Result, Verdict
from h123.verification.trial import Clock

Codepoint = Literal["none", "ect0", "ect1"]
SMALL: Final = 1280
"""The MTU that QUIC assumes on every path (RFC 9000, section 14)."""
HEADERS: Final = 28
"""The size of the IPv4 and UDP headers in bytes."""


class Payloads(Strict):
    """Payload sizes in bytes: the first packet's, the most common one, and the largest."""

    first: int
    common: int
    largest: int


class Spoilt(Strict):
    """A transfer over a path that interferes with ECN."""

    ect: int
    """The number of packets that were sent with ECT."""
    stopped: float | None = None
    """The seconds from the first packet until the last one with ECT. None if the sender goes on using ECN."""
    complete: bool
    """Whether the whole body arrived."""


class Reaction(Strict):
    """A sender's reaction to the first packet that a queue marked."""

    marks: int
    keeps: float
    """The lowest number of bytes in flight within a round trip after the sender could learn of the mark, as a share of
    the number at that time."""


class Limited(Strict):
    """A transfer over a path that drops large packets."""

    too_large: int
    """The number of packets that exceeded the path's MTU."""
    until: float | None = None
    """The seconds from the start of the limit until the last packet that was too large was sent. None if none was."""
    resumed: float | None = None
    """The seconds from the start of the limit until the sender sent a full packet that was delivered. Packets before
    the first one that was too large are ignored. None if the body did not arrive."""
    complete: bool


class PathBehaviour(Strict):
    """The behaviour of a subject in one role over one protocol, on paths that interfere with ECN or drop large packets.
    The subject sends the body, except for `reports`."""

    role: VerifiedRole
    protocol: str = QUIC
    clock: Clock
    ect: Codepoint | None = None
    """The codepoint that the subject sends on a path that leaves ECN alone."""
    share: float | None = None
    """The share of the subject's packets that have the codepoint `ect`."""
    reports: bool | None = None
    """Whether the subject reports the ECN field of received packets, so that its peer goes on using ECN."""
    datagrams: Payloads | None = None
    """The subject's payload sizes on a path with an MTU of 1500."""
    bleach: Spoilt | None = None
    swap: Spoilt | None = None
    mark: Spoilt | None = None
    drop: Spoilt | None = None
    reaction: Reaction | None = None
    small: Limited | None = None
    """A transfer over a path with an MTU of 1280, without ICMP."""
    black_hole: Limited | None = None
    """A transfer during which the path's MTU falls to 1280, without ICMP."""
    icmp: Limited | None = None
    """A transfer during which the path's MTU falls to 1280, with ICMP."""
    unknown: dict[str, str] = Field(default_factory=dict)
    """Reasons for missing results, keyed by the path's name. The path `plain` is the one for `ect`, `share` and
    `datagrams`; most other paths are measured only if it shows that they matter."""

    def why(self, field: str) -> str:
        """Return why a field is None."""
        if self.ect == "none" and field in ("bleach", "swap", "mark", "drop", "reaction"):
            return "it sends no ECT"
        if self.datagrams and field in ("black_hole", "icmp"):
            return self.unknown.get(field, "its packets are small enough")
        needs = field if field in ("reports", "small") else "plain"
        return self.unknown.get(field) or self.unknown.get(needs, "not measured")


def checks(behaviour: PathBehaviour) -> Iterator[tuple[str, Result]]:
    """Yield, for each rule of QUIC, the field that shows whether the sender obeys it, and a result. The result is
    `unsupported` if the sender had no opportunity to break the rule. Over TCP, nothing is yielded.

    If a path bleaches or swaps the codepoints, the receiver's counts differ from what was sent, so the sender must stop
    using ECN (RFC 9000, section 13.4.2). No rule says so for paths that mark all packets or drop all with ECT.
    """
    rules = {
        "bleach": ("ECN bleached", "stopped"),
        "swap": ("ECT swapped", "stopped"),
        "small": (f"MTU of {SMALL}", "complete"),
        "black_hole": (f"MTU falls to {SMALL}", "complete"),
    }
    for field, (check, proof) in rules.items() if behaviour.protocol == QUIC else ():
        found = getattr(behaviour, field)
        verdict: Verdict = "unsupported"
        if found:
            shown = getattr(found, proof)
            verdict = "failed" if shown is None or shown is False else "passed"
        detail = "" if found else f"nothing to check: {behaviour.why(field)}"
        kind = {"role": behaviour.role, "protocol": behaviour.protocol, "clock": behaviour.clock}
        yield field, Result.model_validate({**kind, "check": check, "verdict": verdict, "detail": detail})
