"""Measures the constants of a stack from packets, on links made for this purpose, under the virtual clock.

Each constant is a function of a table of packets. No protocol is decoded, and nothing depends on what the subject
reports.
"""

from h123.verification.constants.agreement import DeclaredComparison, compared
from h123.verification.constants.findings import Constants, LossResponse, SlowStart
from h123.verification.constants.words import described

__all__ = ["Constants", "DeclaredComparison", "LossResponse", "SlowStart", "compared", "described", "words"]
