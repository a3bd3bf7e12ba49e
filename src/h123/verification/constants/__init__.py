"""Measures the constants of a stack from packets, on links made for this purpose, under the virtual clock.

Each constant is a function of a table of packets. Nothing of a protocol is decoded, and the subject's word plays no
part.
"""

from h123.verification.constants.agreement import DeclaredComparison, compared
from h123.verification.constants.findings import Constants, LossResponse, SlowStart
from h123.verification.constants.words import described

__all__ = ["Constants", "DeclaredComparison", "LossResponse", "SlowStart", "compared", "described", "words"]
