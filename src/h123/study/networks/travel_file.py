"""Reads effects that change the time and order in which packets arrive, in the form of a network's file."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from h123.base.strict import Strict
from h123.study.networks.travel import Jitter, Reorder, SentAgain
from h123.study.quantities import Delay, Share

Positive = Field(gt=0)


class JitterFile(Strict):
    """Jitter, such as `jitter: {spread: 5ms, distribution: normal, keep_order: true}`."""

    spread: Annotated[Delay, Positive]
    distribution: Literal["uniform", "normal"] = "uniform"
    keep_order: StrictBool = True

    def resolve(self) -> Jitter:
        return Jitter(spread_ns=self.spread, distribution=self.distribution, keep_order=self.keep_order)


class ReorderFile(Strict):
    """Reordering, such as `reorder: {share: 1%, ahead: 10ms}`."""

    share: Share
    ahead: Annotated[Delay, Positive]

    def resolve(self) -> Reorder:
        return Reorder(share=self.share, ahead_ns=self.ahead)


class RetransmissionFile(Strict):
    """Packets that the link layer sends again, such as `retransmission: {share: 1%, delay: 8ms}`."""

    share: Share
    delay: Annotated[Delay, Positive]
    """The additional delay of packets that are sent again."""
    in_order: StrictBool = False
    """Whether later packets wait for those sent again instead of overtaking them."""

    def resolve(self) -> SentAgain:
        return SentAgain(share=self.share, delay_ns=self.delay, in_order=self.in_order)
