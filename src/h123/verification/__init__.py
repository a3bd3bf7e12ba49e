"""The contract test: checks in the lab that a subject does what it declares."""

from h123.verification.record import Record, Result, read_record
from h123.verification.verify import describe, measure_each, roles_of, tally, verify_each

__all__ = ["Record", "Result", "describe", "measure_each", "read_record", "roles_of", "tally", "verify_each"]
