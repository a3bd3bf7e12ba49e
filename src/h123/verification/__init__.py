"""The contract test: checks in the lab that a subject does what it declares."""

from h123.verification.client import counterpart
from h123.verification.constants.measure import KERNEL_PROTOCOL
from h123.verification.contract_test import describe, measure_each, roles_of, tally, verify_each
from h123.verification.public_record import PublicRecord, public_records, publish
from h123.verification.question import PROBE
from h123.verification.record import Record, last_record, read_record
from h123.verification.result import Result, Verdict, VerifiedRole

__all__ = [
    "KERNEL_PROTOCOL",
    "PROBE",
    "PublicRecord",
    "Record",
    "Result",
    "Verdict",
    "VerifiedRole",
    "constants",
    "counterpart",
    "describe",
    "last_record",
    "matrix",
    "measure_each",
    "public_records",
    "publish",
    "read_record",
    "roles_of",
    "tally",
    "verify_each",
]
