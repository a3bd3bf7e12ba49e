"""Defines metrics of page visits."""

from h123.study.metrics.metric_type import AMOUNT, SPEED, Metric
from h123.study.metrics.quantity import OpenedConnections, PageTime, StageTime

ROWS = (
    Metric(
        "page_complete",
        title="Page complete",
        unit="s",
        of=PageTime("complete"),
        words=SPEED,
        noun="page",
        meaning="median over a trial's warm visits, from the request for the document to the last byte of the page",
    ),
    Metric(
        "page_first_byte",
        title="Document, first byte",
        unit="s",
        of=PageTime("document"),
        words=SPEED,
        noun="first byte of the document",
        meaning="median over a trial's warm visits, from the request for the document to its first byte",
    ),
    Metric(
        "page_largest",
        title="Largest resource complete",
        unit="s",
        of=PageTime("largest"),
        words=SPEED,
        noun="largest resource",
        meaning="median over a trial's warm visits, from the request for the document to the last byte of its largest "
        "resource",
    ),
    Metric(
        "page_dom_content_loaded",
        title="DOMContentLoaded",
        unit="s",
        of=PageTime("dom_content_loaded"),
        words=SPEED,
        noun="DOMContentLoaded",
        meaning="median over a trial's warm visits, from the request for the document to the browser's event "
        "DOMContentLoaded",
    ),
    Metric(
        "page_onload",
        title="Page loaded (onload)",
        unit="s",
        of=PageTime("load"),
        words=SPEED,
        noun="onload",
        meaning="median over a trial's warm visits, from the request for the document to the browser's event load",
    ),
    Metric(
        "page_queued",
        title="A page's request, waiting to start",
        unit="s",
        of=StageTime("queued"),
        words=SPEED,
        noun="wait of a page's requests for a place on a connection",
        meaning="median over a trial's warm visits of the mean time that a visit's requests waited in the client for a "
        "place on a connection",
        zero=True,
    ),
    Metric(
        "page_connecting",
        title="A page's request, connecting",
        unit="s",
        of=StageTime("connecting"),
        words=SPEED,
        noun="wait of a page's requests for new connections",
        meaning="median over a trial's warm visits of the mean time that requests waited for a new connection",
        zero=True,
    ),
    Metric(
        "page_waiting",
        title="A page's request, until its first byte",
        unit="s",
        of=StageTime("waiting"),
        words=SPEED,
        noun="wait of a page's requests for their first byte",
        meaning="median over a trial's warm visits of the mean time from sending a request of the visit to its first "
        "byte",
    ),
    Metric(
        "page_receiving",
        title="A page's request, receiving",
        unit="s",
        of=StageTime("receiving"),
        words=SPEED,
        noun="receiving of a page's responses",
        meaning="median over a trial's warm visits of the mean time from the first to the last byte of the visit's "
        "requests",
        zero=True,
    ),
    Metric(
        "page_connections",
        title="Connections opened by a visit",
        unit="connections",
        of=OpenedConnections(),
        words=AMOUNT,
        noun="number of connections that a visit opens",
        meaning="median over a trial's warm visits of the number of connections that a visit opened, including unused "
        "ones",
        zero=True,
    ),
)
