"""Execution: what one trial needs, the machine that has it, and which trials run there at once and again."""

from h123.execution.certificate import Certificate, campaign_certificate
from h123.execution.disk import TRIAL_BYTES, evidence_bytes, require_room
from h123.execution.engine import Engine, installed_roots
from h123.execution.files import (
    CLIENT_ADDRESS,
    ORIGIN,
    SERVER_ADDRESS,
    own_role,
    trial_certificate,
    trial_roles,
    write_trial_files,
)
from h123.execution.jobs import Jobs
from h123.execution.local import LocalPool
from h123.execution.machine import Machine, UnfitMachine, this_machine
from h123.execution.machine_facts import machine_facts
from h123.execution.order import BlockOrder
from h123.execution.pool import AttemptDone, BlockDone, MachineLost, Pool, PoolEvent, Said, Started
from h123.execution.preparation import check_trials, prepare, require_kernel

__all__ = [
    "CLIENT_ADDRESS",
    "ORIGIN",
    "SERVER_ADDRESS",
    "TRIAL_BYTES",
    "AttemptDone",
    "BlockDone",
    "BlockOrder",
    "Certificate",
    "Engine",
    "Jobs",
    "LocalPool",
    "Machine",
    "MachineLost",
    "Pool",
    "PoolEvent",
    "Said",
    "Started",
    "UnfitMachine",
    "campaign_certificate",
    "check_trials",
    "evidence_bytes",
    "forecast",
    "installed_roots",
    "jobs",
    "machine_facts",
    "order",
    "own_role",
    "prepare",
    "require_kernel",
    "require_room",
    "retry_policy",
    "this_machine",
    "trial_certificate",
    "trial_roles",
    "write_trial_files",
]
