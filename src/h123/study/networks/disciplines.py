"""Defines the parameters of queue disciplines, in the form of trial.json."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class LinkModel(BaseModel):
    """The base class of those parts of a network that trial.json contains unchanged."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Codel(LinkModel):
    """The parameters of a CoDel queue (RFC 8289)."""

    limit: int
    """The largest number of packets that may wait."""
    target_ns: int
    interval_ns: int
    ecn: bool
    ce_threshold_ns: int | None = None


class FqCodel(Codel):
    """The parameters of an FQ-CoDel queue (RFC 8290)."""

    flows: int
    quantum: int
    """The number of bytes that a flow may send in each round."""
    drop_batch: int
    """The largest number of packets that are dropped at once."""


class Pie(LinkModel):
    """The parameters of a PIE queue (RFC 8033)."""

    limit: int
    """The largest number of packets that may wait."""
    target_ns: int
    tupdate_ns: int
    alpha: int
    beta: int
    ecn: bool
    bytemode: bool
    dq_rate_estimator: bool


class FqPie(Pie):
    """The parameters of an FQ-PIE queue."""

    flows: int
    quantum: int
    """The number of bytes that a flow may send in each round."""
    ecn_prob: int
    """The drop probability, in percent, up to which packets are marked instead of dropped."""


class Red(LinkModel):
    """The parameters of a RED queue (Floyd and Jacobson 1993). Sizes are in bytes."""

    limit: int
    min: int
    max: int
    avpkt: int
    burst: int
    """The number of packets that may arrive at once without losses."""
    probability: float
    bandwidth_bps: int
    ecn: bool
    harddrop: bool
    nodrop: bool
    adaptive: bool


class DualPi2(LinkModel):
    """The parameters of a DualPI2 queue (RFC 9332)."""

    limit: int
    """The largest number of packets that may wait."""
    target_ns: int
    tupdate_ns: int
    alpha: int
    """The gain in 256ths of a Hertz, like `beta`."""
    beta: int
    coupling_factor: int
    step_thresh_ns: int
    drop_overload: bool
    classic_protection: int
    """The weight of the classic queue in the scheduler, in percent."""

    @property
    def ecn(self) -> bool:
        """Always true: the queue marks ECN-capable packets."""
        return True


class Cake(LinkModel):
    """The parameters of a CAKE queue."""

    rtt_ns: int
    memlimit: int | None = None
    """The most memory, in bytes, that packets may take."""
    isolation: Literal["flowblind", "flows", "triple-isolate"]

    @property
    def ecn(self) -> bool:
        """Always true: the queue marks ECN-capable packets."""
        return True
