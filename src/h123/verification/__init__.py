"""Runs the contract test, which checks in the lab whether a subject does what it declares."""

from h123.documents.campaign_file import VerifiedRole
from h123.verification.client_cases import STREAMS, WINDOWS
from h123.verification.clients.client import counterpart
from h123.verification.constants.measure import KERNEL_PROTOCOL, measurable
from h123.verification.contract_test import (
    Part,
    Task,
    describe,
    lacking,
    measure_each,
    move_each,
    path_each,
    profile_each,
    roles_of,
    tally,
    verify_each,
)
from h123.verification.migration import MoveResult, moved_words
from h123.verification.paths import PathBehaviour, path_cells, path_words
from h123.verification.proof import best_proof, proof
from h123.verification.public_record import PublicRecord, has_news, public_record, public_records, publish
from h123.verification.record import Record, read_record
from h123.verification.result import Result, Verdict
from h123.verification.server_cases import PROBE
from h123.verification.server_checks.windows import receive_windows

__all__ = [
    "KERNEL_PROTOCOL",
    "PROBE",
    "STREAMS",
    "WINDOWS",
    "MoveResult",
    "Part",
    "PathBehaviour",
    "PublicRecord",
    "Record",
    "Result",
    "Task",
    "Verdict",
    "VerifiedRole",
    "best_proof",
    "constants",
    "counterpart",
    "describe",
    "has_news",
    "lacking",
    "matrix",
    "measurable",
    "measure_each",
    "move_each",
    "moved_words",
    "path_cells",
    "path_each",
    "path_words",
    "profile",
    "profile_each",
    "proof",
    "public_record",
    "public_records",
    "publish",
    "read_record",
    "receive_windows",
    "roles_of",
    "tally",
    "verify_each",
]
