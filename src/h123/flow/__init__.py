"""Computes time series about a trial's link, from its packets and from what senders recorded.

All functions are pure functions of arrays. Unknown values are absent, never guessed.
"""

from h123.flow.bins import Bins, Numbers, Series
from h123.flow.sender import bytes_in_flight, round_trips
from h123.flow.sequence import SentSoFar, sequences
from h123.flow.stacks import logged_round_trip, logged_window, sender_window, smoothed_round_trip
from h123.flow.transit import capacity, fate_times, full_queue_ns, throughput, waiting

__all__ = [
    "Bins",
    "Numbers",
    "SentSoFar",
    "Series",
    "bytes_in_flight",
    "capacity",
    "fate_times",
    "full_queue_ns",
    "logged_round_trip",
    "logged_window",
    "round_trips",
    "sender_window",
    "sequences",
    "smoothed_round_trip",
    "throughput",
    "waiting",
]
