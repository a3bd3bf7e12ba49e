"""The constants of a stack, measured from packets on links made for it, under the virtual clock.

Each is a function of a table of packets: nothing of a protocol is decoded, and the subject's word is not asked.
"""

from h123.verification.constants.agreement import DeclaredComparison, compared
from h123.verification.constants.findings import Constants, LossResponse, SlowStart
from h123.verification.constants.words import described

__all__ = ["Constants", "DeclaredComparison", "LossResponse", "SlowStart", "compared", "described", "words"]
