"""Executes trials: decides what each trial needs, which machine runs it, which trials run together, and which are
repeated."""

from h123.execution.block_run import execute
from h123.execution.certificate import Certificate, campaign_certificate
from h123.execution.disk import kept_bytes
from h123.execution.engine import installed_roots
from h123.execution.files import (
    CLIENT_ADDRESS,
    ORIGIN,
    SERVER_ADDRESS,
    own_role,
    trial_certificate,
    write_trial_files,
)
from h123.execution.jobs import Jobs
from h123.execution.local import LocalPool
from h123.execution.machine import (
    Machine,
    MachineOffer,
    OfferedWay,
    machine_facts,
    require_privileges,
    this_machine,
    ways,
)
from h123.execution.order import BlockOrder
from h123.execution.pool import (
    AttemptDone,
    BlockDone,
    MachineJoined,
    MachineLost,
    Notice,
    OrderRefused,
    Pool,
    PoolEvent,
    Started,
    read_event,
)
from h123.execution.preparation import check_trials, prepare, require_kernel
from h123.execution.ray_cluster import RayPool
from h123.execution.single_trials import PreparedTrial, SingleTrials
from h123.execution.wire import folder_digest, pack, unpack

__all__ = [
    "CLIENT_ADDRESS",
    "ORIGIN",
    "SERVER_ADDRESS",
    "AttemptDone",
    "BlockDone",
    "BlockOrder",
    "Certificate",
    "Jobs",
    "LocalPool",
    "Machine",
    "MachineJoined",
    "MachineLost",
    "MachineOffer",
    "Notice",
    "OfferedWay",
    "OrderRefused",
    "Pool",
    "PoolEvent",
    "PreparedTrial",
    "RayPool",
    "SingleTrials",
    "Started",
    "campaign_certificate",
    "check_trials",
    "execute",
    "folder_digest",
    "installed_roots",
    "jobs",
    "kept_bytes",
    "machine_facts",
    "order",
    "own_role",
    "pack",
    "prepare",
    "read_event",
    "require_kernel",
    "require_privileges",
    "retry_policy",
    "this_machine",
    "trial_certificate",
    "unpack",
    "ways",
    "write_trial_files",
]
