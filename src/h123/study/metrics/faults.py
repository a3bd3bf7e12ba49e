"""Metrics of deliberate faults: moves, fallbacks, abandoned and repeated requests, lost packets."""

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
        meaning="from the moment at which the client is seen from another port or address, or at which the network "
        "stops UDP, until the next whole answer",
    ),
    Metric(
        "fell_back",
        title="Answers over HTTP/2 instead",
        unit="%",
        of=FallbackShare(),
        words=AMOUNT,
        noun="share of answers over HTTP/2",
        meaning="of the answers that a client got which would rather have had HTTP/3",
        zero=True,
    ),
    Metric(
        "abandonment",
        title="Requests abandoned",
        unit="%",
        of=AbandonedShare(),
        words=AMOUNT,
        noun="share of requests abandoned",
        meaning="of the requests whose user leaves after a while, those whose answer had not come whole by then",
        zero=True,
    ),
    Metric(
        "retried",
        title="Requests made again",
        unit="%",
        of=RetriedShare(),
        words=AMOUNT,
        noun="share of requests made again",
        meaning="of the requests that are made again where they have no answer in time, those that were",
        zero=True,
    ),
    Metric(
        "wasted",
        title="Bytes wasted",
        unit="%",
        of=WastedShare(),
        words=AMOUNT,
        noun="share of bytes wasted",
        meaning="of all that came down the link, what was not the body of a whole answer",
    ),
    Metric(
        "lost_packet",
        title="What a lost packet costs",
        unit="s",
        of=LossCost("all"),
        words=TAIL,
        noun="cost of a lost packet",
        meaning="by how much all requests together took longer than in the trial of the block that lost nothing",
        zero=True,
    ),
    Metric(
        "lost_packet_others",
        title="What it costs other requests",
        unit="s",
        of=LossCost("others"),
        words=TAIL,
        noun="cost of a lost packet to other requests",
        meaning="the same, without the request that it cost most, which is taken to be the lost packet's own",
        zero=True,
    ),
)
