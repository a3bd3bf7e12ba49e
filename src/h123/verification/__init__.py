"""The contract test: checks in the lab that a subject does what it declares."""

from h123.verification.contract_test import describe, measure_each, roles_of, tally, verify_each
from h123.verification.record import Record, Result, read_record

__all__ = ["Record", "Result", "describe", "measure_each", "read_record", "roles_of", "tally", "verify_each"]
