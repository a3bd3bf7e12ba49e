"""Explains what requests spent their time on, from the packets that a trial recorded.

The parts of a request's time add up to its latency. The explanation uses only properties of packets that any observer
on the path can see. In addition, it uses frames if the client logged its keys, and the logs of the server's stack if
there are any.
"""

from h123.causes.cause import CAUSES, FORMER_NAMES, NUMBER, UNATTRIBUTED, WORDS, Cause
from h123.causes.connections.bottleneck import wire
from h123.causes.connections.connection import NEVER, Connection, Sending, connections
from h123.causes.connections.log_matching import match_logs
from h123.causes.connections.losses import lost_packets, resent
from h123.causes.spans import Times
from h123.causes.stretch import SUMS_UP, Stretch
from h123.causes.trial import ExplainedTrial, explain

__all__ = [
    "CAUSES",
    "FORMER_NAMES",
    "NEVER",
    "NUMBER",
    "SUMS_UP",
    "UNATTRIBUTED",
    "WORDS",
    "Cause",
    "Connection",
    "ExplainedTrial",
    "Sending",
    "Stretch",
    "Times",
    "connections",
    "explain",
    "lost_packets",
    "match_logs",
    "resent",
    "wire",
]
