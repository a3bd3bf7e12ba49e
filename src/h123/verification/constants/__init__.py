"""Measures the constants of a stack from packets, on links made for this purpose, under the virtual clock.

Each constant is computed from a table of packets. No payload is decoded, and nothing depends on what the subject
reports.
"""

from h123.verification.constants.agreement import DeclaredComparison, compared
from h123.verification.constants.findings import (
    Constants,
    Datagrams,
    Flight,
    HandshakeSize,
    InFlight,
    LossResponse,
    SlowStart,
    Tail,
)
from h123.verification.constants.words import AT_ONCE, described

__all__ = [
    "AT_ONCE",
    "Constants",
    "Datagrams",
    "DeclaredComparison",
    "Flight",
    "HandshakeSize",
    "InFlight",
    "LossResponse",
    "SlowStart",
    "Tail",
    "compared",
    "described",
    "words",
]
