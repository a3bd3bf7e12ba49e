"""Defines effects that change the time and order in which packets arrive, in the form of trial.json."""

from typing import Literal

from h123.study.networks.disciplines import LinkModel


class Jitter(LinkModel):
    """A random additional delay."""

    spread_ns: int
    distribution: Literal["uniform", "normal"] = "uniform"
    keep_order: bool = True


class Reorder(LinkModel):
    """The reordering of a share of the packets, which leave before packets that arrived earlier."""

    share: float
    ahead_ns: int


class SentAgain(LinkModel):
    """The delay of a share of the packets, which arrive later because the link layer sends them again."""

    share: float
    delay_ns: int
    in_order: bool = False
    """Whether later packets wait for those sent again instead of overtaking them."""

    def describe(self) -> str:
        """Return text such as `1 % sent again after 8 ms`."""
        order = ", in order" if self.in_order else ""
        return f"{self.share * 100:.3g} % sent again after {self.delay_ns / 1e6:g} ms{order}"
