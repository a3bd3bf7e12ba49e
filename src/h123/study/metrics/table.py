"""The metrics of a trial, one row each.

Whoever asks something of a metric asks this table: studies, results, analysis, report. How a value follows from a
trial's samples and report.json is in measures/metrics.py, by `Metric.of`; docs/contracts/metrics.md defines each.
"""

from dataclasses import replace
from typing import Annotated, Final

from pydantic import BeforeValidator

from h123.base.strict import choose, shown
from h123.study.metrics.metric_type import Metric, Words
from h123.study.metrics.observed import (
    Abandoned,
    Answered,
    Around,
    Carried,
    Crossed,
    Dialled,
    FellBack,
    FromSend,
    Lost,
    Memory,
    Opened,
    Processor,
    Queued,
    Recovered,
    Retried,
    Sent,
    Spent,
    Times,
    Visits,
    Wasted,
)

_SPEED = Words("faster", "slower", "fastest", "faster", "slower")
_TAIL = replace(_SPEED, less="lower", more="higher")
_WAIT = Words("shorter", "longer", "shortest", "shorter", "longer")
_COST = Words("cheaper", "costlier", "cheapest", "lower", "higher")
_SIZE = Words("smaller", "larger", "smallest", "smaller", "larger")
_TURNS = Words("fewer", "more", "fewest", "lower", "higher")
_AMOUNT = Words("higher", "lower", "highest", "lower", "higher")


def _table(*rows: Metric) -> dict[str, Metric]:
    return {row.name: row for row in rows}


METRICS = _table(
    Metric(
        "latency",
        title="Latency",
        unit="s",
        of=Times("warm", "end_ns"),
        words=_SPEED,
        meaning="median over a trial's warm requests, from the request to the last byte",
        cold="cold_latency",
    ),
    Metric(
        "latency_p95",
        title="Latency, 95th percentile",
        unit="s",
        of=Times("warm", "end_ns", 0.95, requests=60),
        words=_TAIL,
        noun="95th percentile of latency",
        meaning="95 of 100 warm requests of a trial took no longer",
    ),
    Metric(
        "latency_p99",
        title="Latency, 99th percentile",
        unit="s",
        of=Times("warm", "end_ns", 0.99, requests=300),
        words=_TAIL,
        noun="99th percentile of latency",
        meaning="99 of 100 warm requests of a trial took no longer",
    ),
    Metric(
        "sent_latency_p99",
        title="Latency from the send, 99th percentile",
        unit="s",
        of=FromSend(0.99, requests=300),
        words=_TAIL,
        noun="99th percentile of latency from the send",
        meaning="99 of 100 warm requests of a trial took no longer once they were sent, whenever they were due",
    ),
    Metric(
        "ttfb",
        title="First byte",
        unit="s",
        of=Times("warm", "first_byte_ns"),
        words=_SPEED,
        noun="first byte",
        meaning="median over a trial's warm requests, from the request to the first byte of the response",
        cold="cold_ttfb",
    ),
    Metric(
        "goodput",
        title="Goodput",
        unit="bit/s",
        of=Carried("trial"),
        words=_AMOUNT,
        noun="goodput",
        meaning="body bytes of the warm requests over the time from the first one's start to the last one's end",
        better="higher",
        repeats="latency",
    ),
    Metric(
        "rps",
        title="Requests a second",
        unit="/s",
        of=Answered(),
        words=_AMOUNT,
        noun="rate of requests",
        meaning="warm requests that succeeded over the time from the first one's start to the last one's end",
        better="higher",
        repeats="latency",
    ),
    Metric(
        "cold_latency",
        title="Latency, cold",
        unit="s",
        of=Times("cold", "end_ns"),
        words=_SPEED,
        noun="first request, handshake included,",
        meaning="first request of a connection, from before the dial to the last byte",
    ),
    Metric(
        "cold_ttfb",
        title="First byte, cold",
        unit="s",
        of=Times("cold", "first_byte_ns"),
        words=_SPEED,
        noun="first byte, handshake included,",
        meaning="first request of a connection, from before the dial to the first byte of the response",
    ),
    Metric(
        "handshake",
        title="Handshake",
        unit="s",
        of=Times("cold", "connected_ns"),
        words=_SPEED,
        noun="handshake",
        meaning="from before the dial until the connection is ready for a request",
    ),
    Metric(
        "page_complete",
        title="Page complete",
        unit="s",
        of=Visits("complete"),
        words=_SPEED,
        noun="page",
        meaning="median over a trial's warm visits, from the request for the document to the last byte of the page",
    ),
    Metric(
        "page_first_byte",
        title="Document, first byte",
        unit="s",
        of=Visits("document"),
        words=_SPEED,
        noun="first byte of the document",
        meaning="median over a trial's warm visits, from the request for the document to its first byte",
    ),
    Metric(
        "page_largest",
        title="Largest resource complete",
        unit="s",
        of=Visits("largest"),
        words=_SPEED,
        noun="largest resource",
        meaning="median over a trial's warm visits, from the request for the document to the last byte of its largest "
        "resource",
    ),
    Metric(
        "page_dom_content_loaded",
        title="DOMContentLoaded",
        unit="s",
        of=Visits("dom_content_loaded"),
        words=_SPEED,
        noun="DOMContentLoaded",
        meaning="median over a trial's warm visits, from the request for the document to the browser's event "
        "DOMContentLoaded",
    ),
    Metric(
        "page_onload",
        title="Page loaded (onload)",
        unit="s",
        of=Visits("load"),
        words=_SPEED,
        noun="onload",
        meaning="median over a trial's warm visits, from the request for the document to the browser's event load",
    ),
    Metric(
        "page_queued",
        title="A page's request, waiting to start",
        unit="s",
        of=Spent("queued"),
        words=_SPEED,
        noun="wait of a page's requests for a place on a connection",
        meaning="median over a trial's warm visits of what the mean request of a visit waited in the client for a "
        "place on a connection",
        zero=True,
    ),
    Metric(
        "page_connecting",
        title="A page's request, connecting",
        unit="s",
        of=Spent("connecting"),
        words=_SPEED,
        noun="wait of a page's requests for new connections",
        meaning="median over a trial's warm visits of what the mean request of a visit waited for a new connection",
        zero=True,
    ),
    Metric(
        "page_waiting",
        title="A page's request, until its first byte",
        unit="s",
        of=Spent("waiting"),
        words=_SPEED,
        noun="wait of a page's requests for their first byte",
        meaning="median over a trial's warm visits of what the mean request of a visit waited for its first byte, once "
        "it was sent",
    ),
    Metric(
        "page_receiving",
        title="A page's request, receiving",
        unit="s",
        of=Spent("receiving"),
        words=_SPEED,
        noun="receiving of a page's answers",
        meaning="median over a trial's warm visits of what the mean request of a visit took from its first byte to its "
        "last",
        zero=True,
    ),
    Metric(
        "page_connections",
        title="Connections opened by a visit",
        unit="connections",
        of=Dialled(),
        words=_TURNS,
        noun="number of connections that a visit opens",
        meaning="median over a trial's warm visits of the connections that a visit opened, those included that it "
        "never used",
        zero=True,
    ),
    Metric(
        "cpu",
        title="CPU per request",
        unit="s",
        of=Processor(("server", "client")),
        words=_COST,
        noun="CPU per request",
        meaning="processor time of client and server while the client ran, handshakes included, per request",
    ),
    Metric(
        "cpu_server",
        title="CPU per request, server",
        unit="s",
        of=Processor(("server",)),
        words=_COST,
        noun="server CPU per request",
        meaning="processor time of the server while the client ran, handshakes included, per request",
        by_role=True,
    ),
    Metric(
        "cpu_client",
        title="CPU per request, client",
        unit="s",
        of=Processor(("client",)),
        words=_COST,
        noun="client CPU per request",
        meaning="processor time of the client while it ran, handshakes included, per request",
        by_role=True,
    ),
    Metric(
        "cpu_backend",
        title="CPU per request, backend",
        unit="s",
        of=Processor(("backend",)),
        words=_COST,
        noun="backend CPU per request",
        meaning="processor time of what stands behind the server while the client ran, per request",
        by_role=True,
    ),
    Metric(
        "cpu_warm",
        title="CPU per warm request",
        unit="s",
        of=Processor(("server", "client"), "open"),
        words=_COST,
        noun="CPU per warm request",
        meaning="processor time of client and server per request, once all connections are open",
    ),
    Metric(
        "cpu_handshake",
        title="CPU per connection",
        unit="s",
        of=Processor(("server", "client"), "opening"),
        words=_COST,
        noun="CPU per connection",
        meaning="processor time of client and server until all connections are open, beyond what the requests until "
        "then took, per connection",
    ),
    Metric(
        "memory_server",
        title="Peak memory, server",
        unit="B",
        of=Memory("server"),
        words=_SIZE,
        noun="peak server memory",
        meaning="largest resident set of the server during a trial",
    ),
    Metric(
        "memory_client",
        title="Peak memory, client",
        unit="B",
        of=Memory("client"),
        words=_SIZE,
        noun="peak client memory",
        meaning="largest resident set of the client during a trial",
    ),
    Metric(
        "process_start",
        title="Program, until the first request",
        unit="s",
        of=Around("start"),
        words=_SPEED,
        noun="start of the program",
        meaning="from when the program that makes the requests was started until the first one",
    ),
    Metric(
        "process_end",
        title="Program, after the last request",
        unit="s",
        of=Around("end"),
        words=_SPEED,
        noun="end of the program",
        meaning="from the last request's end until the program that made the requests had ended",
    ),
    Metric(
        "sent_up",
        title="Bytes sent per request, client",
        unit="B",
        of=Sent("up"),
        words=_SIZE,
        noun="traffic to the server",
        meaning="bytes of all packets that the client sent, handshakes and acknowledgements included, per request",
    ),
    Metric(
        "sent_down",
        title="Bytes sent per request, server",
        unit="B",
        of=Sent("down"),
        words=_SIZE,
        noun="traffic to the client",
        meaning="bytes of all packets that the server sent, handshakes and acknowledgements included, per request",
    ),
    Metric(
        "packets_up",
        title="Packets sent per request, client",
        unit="packets",
        of=Sent("up", "packets"),
        words=_TURNS,
        noun="number of packets to the server",
        meaning="packets that the client sent, handshakes and acknowledgements included, per request",
    ),
    Metric(
        "packets_down",
        title="Packets sent per request, server",
        unit="packets",
        of=Sent("down", "packets"),
        words=_TURNS,
        noun="number of packets to the client",
        meaning="packets that the server sent, handshakes and acknowledgements included, per request",
    ),
    Metric(
        "queue_delay",
        title="Queue delay",
        unit="s",
        of=Queued("down"),
        words=_WAIT,
        noun="queue delay",
        meaning="what packets of the server waited for the link's rate, behind others and to be sent, on average",
    ),
    Metric(
        "cross_goodput",
        title="Others' goodput",
        unit="bit/s",
        of=Crossed("down"),
        words=_AMOUNT,
        noun="others' goodput",
        meaning="what the programs of the cross traffic received while the client ran, over that time",
        better="higher",
    ),
    Metric(
        "cold_round_trips",
        title="Round trips, cold",
        unit="round trips",
        of=Opened("round_trips"),
        words=_TURNS,
        noun="number of round trips before the first byte",
        meaning="round trips from a connection's first packet to the first byte of the first answer, counted",
    ),
    Metric(
        "opening_up",
        title="Bytes to the first answer, client",
        unit="B",
        of=Opened("bytes_up"),
        words=_SIZE,
        noun="opening traffic to the server",
        meaning="bytes of all packets that the client sent on a connection, until the first byte of the first answer",
    ),
    Metric(
        "opening_down",
        title="Bytes to the first answer, server",
        unit="B",
        of=Opened("bytes_down"),
        words=_SIZE,
        noun="opening traffic to the client",
        meaning="bytes of all packets that the server sent on a connection, up to the first byte of the first answer",
    ),
    Metric(
        "opening_packets_up",
        title="Packets to the first answer, client",
        unit="packets",
        of=Opened("packets_up"),
        words=_TURNS,
        noun="number of opening packets to the server",
        meaning="packets that the client sent on a connection, until the first byte of the first answer",
    ),
    Metric(
        "opening_packets_down",
        title="Packets to the first answer, server",
        unit="packets",
        of=Opened("packets_down"),
        words=_TURNS,
        noun="number of opening packets to the client",
        meaning="packets that the server sent on a connection, up to the first byte of the first answer",
    ),
    Metric(
        "recovery",
        title="Recovery",
        unit="s",
        of=Recovered(),
        words=_SPEED,
        noun="recovery",
        meaning="from the moment at which the client is seen from another port or address, or at which the network "
        "stops UDP, until the next whole answer",
    ),
    Metric(
        "fell_back",
        title="Answers over HTTP/2 instead",
        unit="%",
        of=FellBack(),
        words=_TAIL,
        noun="share of answers over HTTP/2",
        meaning="of the answers that a client got which would rather have had HTTP/3",
        zero=True,
    ),
    Metric(
        "abandonment",
        title="Requests abandoned",
        unit="%",
        of=Abandoned(),
        words=_TURNS,
        noun="share of requests abandoned",
        meaning="of the requests whose user leaves after a while, those whose answer had not come whole by then",
        zero=True,
    ),
    Metric(
        "retried",
        title="Requests made again",
        unit="%",
        of=Retried(),
        words=_TAIL,
        noun="share of requests made again",
        meaning="of the requests that are made again where they have no answer in time, those that were",
        zero=True,
    ),
    Metric(
        "wasted",
        title="Bytes wasted",
        unit="%",
        of=Wasted(),
        words=_TURNS,
        noun="share of bytes wasted",
        meaning="of all that came down the link, what was not the body of a whole answer",
    ),
    Metric(
        "lost_packet",
        title="What a lost packet costs",
        unit="s",
        of=Lost("all"),
        words=_TAIL,
        noun="cost of a lost packet",
        meaning="by how much all requests together took longer than in the trial of the block that lost nothing",
        zero=True,
    ),
    Metric(
        "lost_packet_others",
        title="What it costs other requests",
        unit="s",
        of=Lost("others"),
        words=_TAIL,
        noun="cost of a lost packet to other requests",
        meaning="the same, without the request that it cost most, which is taken to be the lost packet's own",
        zero=True,
    ),
)
PRINTED = _table(
    METRICS["latency"],
    METRICS["ttfb"],
    Metric(
        "throughput",
        title="Throughput per request",
        unit="B/s",
        of=Carried("request"),
        words=_AMOUNT,
        noun="throughput per request",
        meaning="payload size over latency, request by request",
        better="higher",
        repeats="latency",
    ),
)
"""What published works print of requests (published/*.yaml), and what their procedure compares."""


def metric(name: str) -> Metric:
    """Any metric, to show; what nobody here measures, as claims have it and later versions may, under its own name."""
    return METRICS.get(name) or PRINTED.get(name) or Metric(name, name, noun=name)


def _known(table: dict[str, Metric]) -> BeforeValidator:
    def check(value: object) -> object:
        if value not in list(table):
            raise ValueError(f"{shown(value)} is not allowed; {choose(value, table)}")
        return value

    return BeforeValidator(check)


MetricName = Annotated[str, _known(METRICS)]
PrintedName = Annotated[str, _known(PRINTED)]

TAIL: Final = METRICS["latency_p99"]
"""What is said of the slowest requests."""
