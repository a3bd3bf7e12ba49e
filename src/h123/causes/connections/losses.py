"""Finds when a sender noticed its lost packets and sent them again. Also estimates the cost of datagrams that the link
delivered but a full buffer dropped."""

import numpy as np
from numpy.typing import NDArray

from h123.causes.cause import (
    CUT,
    DROPS,
    LIMIT,
    MARKED,
    MENDING,
    NUMBER,
    POLICED,
    QUEUE_LOSS,
    REPAIRS,
    TOO_LARGE,
    WINDOW,
)
from h123.causes.connections.connection import Connection, Sending
from h123.causes.spans import Limits, Spans, Times
from h123.documents.lab_report import Report
from h123.packets import capture
from h123.packets.capture import BLOCKED, CE, LEFT, LOST, QUEUE_FULL, TCP, Packets

_REORDERED = 3
"""The number of later packets whose arrival makes a sender consider a packet lost (RFC 9002, 6.1.1; TCP's duplicate
acknowledgements)."""
_NO_ROOM = "Udp.RcvbufErrors"
"""A host's counter of datagrams for which a socket had no room."""


_REPAIR = {QUEUE_FULL: QUEUE_LOSS, capture.POLICED: POLICED, capture.TOO_LARGE: TOO_LARGE}
"""Maps a packet's fate to the cause of the time that its loss costs. For all other fates, the cause is MENDING before
the retransmission and CUT after it."""
_REPAIRS, _CUTS = (
    np.array([NUMBER[_REPAIR.get(fate, other)] for fate in range(capture.THINNED + 1)], np.int8)
    for other in (MENDING, CUT)
)


def lost_packets(sending: Sending) -> Times:
    """Return the indices of the sender's packets that the link lost, blocked or dropped. QUIC's probes for a larger
    packet size are left out, because nothing waits for them (RFC 9000, 14.4)."""
    fates, sizes = sending.packets["fate"], sending.packets["bytes"]
    lost = np.isin(fates, (LOST, QUEUE_FULL, BLOCKED, capture.POLICED, capture.TOO_LARGE)) & sending.speaks
    if len(fates) and sending.packets["protocol"][0] != TCP:
        largest = np.maximum.accumulate(np.where(sending.arrived, sizes, 0))
        lost &= (fates != capture.TOO_LARGE) | (sizes <= largest)
    return np.flatnonzero(lost)


def marked_packets(sending: Sending) -> Times:
    """Return the indices of the packets that the link marked with Congestion Experienced and delivered."""
    ecn = sending.packets["ecn"]
    return np.flatnonzero((ecn & CE != CE) & (ecn >> LEFT == CE) & sending.arrived & sending.speaks)


def cuts(sending: Sending) -> tuple[Times, NDArray[np.int8]]:
    """Return the indices of the packets whose loss or mark cut the sender's window, and for each of them the number of
    the cause. The loss of a packet that was too large cuts no window."""
    lost, marked = lost_packets(sending), marked_packets(sending)
    lost = lost[sending.packets["fate"][lost] != capture.TOO_LARGE]
    places = np.concatenate([lost, marked])
    causes = np.concatenate([_CUTS[sending.packets["fate"][lost]], np.full(len(marked), NUMBER[MARKED], np.int8)])
    order = np.argsort(places, kind="stable")
    return places[order], causes[order]


def repair_numbers(packets: Packets) -> NDArray[np.int8]:
    """Return, for each packet, the number of a cause. If the packet is lost, the time until its retransmission is
    attributed to this cause."""
    numbers: NDArray[np.int8] = _REPAIRS[packets["fate"]]
    return numbers


def repairs(sending: Sending, answers: Sending, round_trip_ns: int) -> Limits:
    """Return the spans of `mending`, grouped by the cause of the loss."""
    places = lost_packets(sending)
    begins, ends = sending.at[places], resent(sending, answers, round_trip_ns)
    numbers = repair_numbers(sending.packets[places])
    return [(cause, Spans.union(begins[numbers == NUMBER[cause]], ends[numbers == NUMBER[cause]])) for cause in REPAIRS]


def mending(sending: Sending, answers: Sending, round_trip_ns: int) -> Spans:
    """Return the spans from the sending of each lost packet until its replacement was sent."""
    return Spans.union(sending.at[lost_packets(sending)], resent(sending, answers, round_trip_ns))


def resent(sending: Sending, answers: Sending, round_trip_ns: int) -> Times:
    """Return when the replacement of each lost packet was sent. If there is none, return when the lost packet was
    sent."""
    places = lost_packets(sending)
    if not len(places):
        return places
    tcp = bool(sending.packets["protocol"][0] == TCP)
    return _same_again(sending, places) if tcp else _after_notice(sending, answers, places, round_trip_ns)


def _same_again(sending: Sending, places: Times) -> Times:
    """Return when TCP sent each lost packet's bytes again, in the next segment that begins at the same byte. If there
    is no such segment, look for a larger one that contains the first of these bytes."""
    at, seq = sending.at, sending.packets["seq"].astype(np.int64)
    spoken = np.flatnonzero(sending.speaks)
    order = spoken[np.lexsort((spoken, seq[spoken]))]
    rank = np.empty(len(at), np.int64)
    rank[order] = np.arange(len(order))
    later = rank[places] + 1
    following = order[np.minimum(later, len(order) - 1)]
    repeated = (later < len(order)) & (seq[following] == seq[places])
    again = np.where(repeated, at[following], 0)
    for k in np.flatnonzero(~repeated):
        again[k] = _covering(sending, int(places[k]))
    return again


def _covering(sending: Sending, place: int) -> int:
    """Return when a later segment contained the first byte of the lost one. If none did, return when the lost one was
    sent."""
    later = sending.packets[place + 1 :]
    offset = (int(sending.packets["seq"][place]) - later["seq"].astype(np.int64)) % 2**32
    covers = np.flatnonzero((offset < later["payload"]) & (later["payload"] > 0))
    return int(later["at_ns"][covers[0]]) if len(covers) else int(sending.at[place])


def _after_notice(sending: Sending, answers: Sending, places: Times, round_trip_ns: int) -> Times:
    """Return, for each lost packet, when QUIC's sender sent its first packet after it could know of the loss. It can
    know once it receives a packet that the other end sent after receiving three later packets. A packet sent before
    that, at least a round trip after the lost one, is taken as a probe that replaces the lost packet."""
    arrived = np.flatnonzero(sending.arrived)
    third = np.searchsorted(arrived, places) + _REORDERED - 1
    noticeable = third < len(arrived)
    noticed = np.full(len(places), np.iinfo(np.int64).max)
    noticed[noticeable] = answers.receipts(sending.delivered_at[arrived[third[noticeable]]])
    resent = _next_at(sending, noticed)
    probe = _next_at(sending, sending.at[places] + max(round_trip_ns, 1))
    return np.minimum(resent, probe)


def _next_at(sending: Sending, times: Times) -> Times:
    """Return, for each time, when the next packet was sent, at that time or later. If there is none, return when the
    last packet was sent."""
    place = np.searchsorted(sending.at, times)
    return np.append(sending.at, sending.at[-1])[place]


def receive_drops(report: Report) -> int:
    """Return the number of datagrams that full receive buffers dropped on all hosts while the main role ran."""
    return sum(host.counters.grown(_NO_ROOM) for host in report.hosts)


def attribute_drops(seconds: NDArray[np.float64], drops: int, connection: Connection) -> NDArray[np.float64]:
    """Move time that was attributed to congestion windows to the cause `drops`, for the requests of a connection.
    Return the new seconds, an array of shape (requests, causes).

    The link's record does not show these drops, because the link delivered the packets before a full buffer dropped
    them. If packets were also lost on the link, the time of a window reduced by losses is moved only in proportion to
    the drops' share of all losses. TCP has no drops, because it never sends more than its receiver has room for.
    """
    if not drops or not connection.quic:
        return seconds
    on_link = sum(len(lost_packets(side)) for side in (connection.up, connection.down))
    moved = seconds.copy()
    for cause, share in ((LIMIT, 1.0), (WINDOW, 1.0), (CUT, drops / (drops + on_link))):
        moved[:, NUMBER[DROPS]] += share * seconds[:, NUMBER[cause]]
        moved[:, NUMBER[cause]] -= share * seconds[:, NUMBER[cause]]
    return moved
