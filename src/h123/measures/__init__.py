"""Measures trials from their samples and records: their metrics, and the facts that audits need."""

from h123.measures.attempts import Attempt, load_attempts
from h123.measures.disturbance import disturbance, is_machines_fault, machine_noise, own_ns
from h123.measures.export import connect_with_metrics, export
from h123.measures.metrics import EndedTrial, finite_metrics, trial_metrics
from h123.measures.opening import Opening
from h123.measures.processor import SHARES_MEASURABLE_NS, Usage, longest_waiting
from h123.measures.recovery import moves_of
from h123.measures.repetition import Repetition, compare_executions
from h123.measures.servers import server_counts
from h123.measures.stages import stages_of
from h123.measures.summary import Bodies
from h123.measures.visits import events_of

__all__ = [
    "SHARES_MEASURABLE_NS",
    "Attempt",
    "Bodies",
    "EndedTrial",
    "Opening",
    "Repetition",
    "Usage",
    "compare_executions",
    "connect_with_metrics",
    "disturbance",
    "events_of",
    "export",
    "finite_metrics",
    "is_machines_fault",
    "load_attempts",
    "longest_waiting",
    "machine_noise",
    "moves_of",
    "own_ns",
    "quantiles",
    "server_counts",
    "stages_of",
    "trial_metrics",
]
