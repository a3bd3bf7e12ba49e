"""What a campaign leaves behind: its folder, its journal, its raw samples, and the tables over them."""

from h123.results.attempts import Attempt, load_attempts
from h123.results.disturbance import Disturbance, disturbance, machine_noise, own_ns, ruined
from h123.results.documents import fault_of, read_content, read_document, write_document
from h123.results.evidence import tabulate_evidence
from h123.results.export import export, whole
from h123.results.folder import CampaignFolder, check_name, check_new
from h123.results.gateway_file import GatewayFacts, read_gateway
from h123.results.imported import import_samples
from h123.results.loss import loss
from h123.results.machine import machine_facts
from h123.results.metrics import shown, trial_metrics
from h123.results.opening import Opening
from h123.results.page_events import events_of
from h123.results.processor import SHARES_TELL_NS, Usage
from h123.results.recovery import moves_of
from h123.results.repetition import Repetition, compare_executions
from h123.results.rows import Rows
from h123.results.samples import Sample, ingest, read_samples
from h123.results.shapes import Count, Document, Reason, Shape
from h123.results.stages import stages_of
from h123.results.summary import Bodies
from h123.results.tables import connect
from h123.results.waiting import longest_waiting

__all__ = [
    "SHARES_TELL_NS",
    "Attempt",
    "Bodies",
    "CampaignFolder",
    "Count",
    "Disturbance",
    "Document",
    "GatewayFacts",
    "Opening",
    "Reason",
    "Repetition",
    "Rows",
    "Sample",
    "Shape",
    "Usage",
    "campaign_file",
    "check_name",
    "check_new",
    "compare_executions",
    "connect",
    "disturbance",
    "events",
    "events_of",
    "export",
    "fault_of",
    "frames",
    "gateway_file",
    "import_samples",
    "ingest",
    "lab_report",
    "load_attempts",
    "longest_waiting",
    "loss",
    "machine_facts",
    "machine_noise",
    "moves_of",
    "own_ns",
    "packets",
    "qlog",
    "quantiles",
    "read_content",
    "read_document",
    "read_gateway",
    "read_samples",
    "ruined",
    "shown",
    "stack_log",
    "stages_of",
    "tabulate_evidence",
    "tcp_account",
    "trial_files",
    "trial_metrics",
    "whole",
    "write_document",
]
