"""The contract test: what a subject declares is asked of it, and what comes back is judged."""

from h123.verification.record import Record, Result, read_record
from h123.verification.verify import describe, roles_of, tally, verify_each

__all__ = ["Record", "Result", "describe", "read_record", "roles_of", "tally", "verify_each"]
