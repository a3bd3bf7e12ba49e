"""Reads studies, which are questions in YAML. Plans the trials that answer them, and estimates the trials' cost."""

from typing import TYPE_CHECKING

from h123.base.late_loading import load_late

if TYPE_CHECKING:
    from h123.study.changes.access_link import access_link
    from h123.study.claims.claim import ALL_LEVELS, ARITHMETIC, BOUNDED, Claim, MeasurableClaim, WordedClaim
    from h123.study.claims.ledger import Ledger, find_ledgers, ledgers_of, load_ledger
    from h123.study.claims.printed_values import PrintedValue, PrintedValues, load_printed, printed_values_of
    from h123.study.confounding import confounded_parameters, together
    from h123.study.estimate import Estimate, estimate, estimate_blocks, estimate_check
    from h123.study.likeness import Likeness, SenderSetting, TransportRoles, likenesses, unmatched
    from h123.study.metrics.condition import Basis, Condition
    from h123.study.metrics.metric_type import Metric
    from h123.study.metrics.table import METRICS, PRINTED, QUEUE, TAIL, TRAFFIC, metric
    from h123.study.networks.network import Network
    from h123.study.networks.recordings.network_import import ImportOptions, import_network
    from h123.study.networks.replay import replayed, unrolled
    from h123.study.old_spellings import respelled_campaign, respelled_parameters
    from h123.study.parameters import NETWORK_PARAMETERS, Parameters, PlannedTrial
    from h123.study.plan import LevelFilter, Plan, make_plan, parse_filter, timeless
    from h123.study.quantities import RESOLVED
    from h123.study.question import question_of
    from h123.study.reader import load_study
    from h123.study.registry import (
        find_knobs,
        find_network,
        find_site,
        find_study,
        is_path,
        list_claims,
        list_knobs,
        list_networks,
        list_schemas,
        list_sites,
        list_studies,
        load_network,
    )
    from h123.study.round_trips import handshake_round_trips, slow_start_round_trips
    from h123.study.schema import ColumnSource, Samples, Schema, load_schema
    from h123.study.sites.recorded_page import RecordedAnswer, RecordedPage, recorded_page, request_path
    from h123.study.sites.site import read_site
    from h123.study.sites.site_import import import_site
    from h123.study.study import (
        ENOUGH_FOR_INTERVAL,
        OF_REQUESTS,
        OF_VISITS,
        Chart,
        Comparison,
        Family,
        Study,
        networks_from_resolved,
        rungs,
        split_pair,
    )
    from h123.study.workload.headers import Header

__all__ = [
    "ALL_LEVELS",
    "ARITHMETIC",
    "BOUNDED",
    "ENOUGH_FOR_INTERVAL",
    "METRICS",
    "NETWORK_PARAMETERS",
    "OF_REQUESTS",
    "OF_VISITS",
    "PRINTED",
    "QUEUE",
    "RESOLVED",
    "TAIL",
    "TRAFFIC",
    "Basis",
    "Chart",
    "Claim",
    "ColumnSource",
    "Comparison",
    "Condition",
    "Estimate",
    "Family",
    "Header",
    "ImportOptions",
    "Ledger",
    "LevelFilter",
    "Likeness",
    "MeasurableClaim",
    "Metric",
    "Network",
    "Parameters",
    "Plan",
    "PlannedTrial",
    "PrintedValue",
    "PrintedValues",
    "RecordedAnswer",
    "RecordedPage",
    "Samples",
    "Schema",
    "SenderSetting",
    "Study",
    "TransportRoles",
    "WordedClaim",
    "access_link",
    "changes",
    "checks",
    "claims",
    "confounded_parameters",
    "documents",
    "estimate",
    "estimate_blocks",
    "estimate_check",
    "find_knobs",
    "find_ledgers",
    "find_network",
    "find_site",
    "find_study",
    "handshake_round_trips",
    "import_network",
    "import_site",
    "interventions",
    "is_path",
    "ledgers_of",
    "likenesses",
    "list_claims",
    "list_knobs",
    "list_networks",
    "list_schemas",
    "list_sites",
    "list_studies",
    "load_ledger",
    "load_network",
    "load_printed",
    "load_schema",
    "load_study",
    "make_plan",
    "metric",
    "metrics",
    "network",
    "networks",
    "networks_from_resolved",
    "parse_filter",
    "printed_values_of",
    "quantity",
    "question_of",
    "read_site",
    "recorded_page",
    "replayed",
    "request_path",
    "respelled_campaign",
    "respelled_parameters",
    "round_trips",
    "rungs",
    "site",
    "sites",
    "slow_start_round_trips",
    "split_pair",
    "timeless",
    "together",
    "unmatched",
    "unrolled",
    "workload",
    "yaml_document",
]

load_late(__name__)
