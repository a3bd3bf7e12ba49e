"""Defines metrics of deliberate faults: moves, fallbacks, abandoned and repeated requests, lost packets."""

from h123.study.metrics.metric_type import AMOUNT, SPEED, TAIL, Metric
from h123.study.metrics.quantity import AbandonedShare, FallbackShare, LossCost, RecoveryTime, RetriedShare, WastedShare

ROWS = (
    Metric(
        "recovery",
        title="Recovery",
        unit="s",
        of=RecoveryTime(),
        words=SPEED,
        noun="recovery",
        meaning="from the moment at which the client is seen from a new port or address, or at which the network "
        "stops UDP, until the next complete answer",
    ),
    Metric(
        "fell_back",
        title="Answers over HTTP/2 instead",
        unit="%",
        of=FallbackShare(),
        words=AMOUNT,
        noun="share of answers over HTTP/2",
        meaning="answers over HTTP/2 to a client that prefers HTTP/3, as a share of all answers",
        zero=True,
    ),
    Metric(
        "abandonment",
        title="Requests abandoned",
        unit="%",
        of=AbandonedShare(),
        words=AMOUNT,
        noun="share of requests abandoned",
        meaning="abandoned requests, as a share of those whose user leaves after a while",
        zero=True,
    ),
    Metric(
        "retried",
        title="Requests made again",
        unit="%",
        of=RetriedShare(),
        words=AMOUNT,
        noun="share of requests made again",
        meaning="requests that were repeated, as a share of those that are repeated if no answer comes in time",
        zero=True,
    ),
    Metric(
        "wasted",
        title="Bytes wasted",
        unit="%",
        of=WastedShare(),
        words=AMOUNT,
        noun="share of bytes wasted",
        meaning="share of the bytes down the link that did not belong to the body of a complete answer",
    ),
    Metric(
        "lost_packet",
        title="What a lost packet costs",
        unit="s",
        of=LossCost("all"),
        words=TAIL,
        noun="cost of a lost packet",
        meaning="additional time of all requests together, compared with the trial of the block that lost nothing",
        zero=True,
    ),
    Metric(
        "lost_packet_others",
        title="What it costs other requests",
        unit="s",
        of=LossCost("others"),
        words=TAIL,
        noun="cost of a lost packet to other requests",
        meaning="additional time of all requests except the most delayed one, which is assumed to have lost the packet",
        zero=True,
    ),
)
