"""What one trial needs, whoever asks for it: prepared subjects, a certificate, its files, an engine to execute it."""

from h123.trial.certificate import Certificate, campaign_certificate
from h123.trial.disk import TRIAL_BYTES, evidence_bytes, require_room
from h123.trial.engine import Engine, LocalEngine, installed_roots
from h123.trial.files import (
    CLIENT_ADDRESS,
    ORIGIN,
    SERVER_ADDRESS,
    own_role,
    trial_certificate,
    trial_roles,
    write_trial_files,
)
from h123.trial.place import Place, PlaceLost, this_machine
from h123.trial.preparation import check_trials, prepare, require_kernel
from h123.trial.progress import Display, Ended, Estimate, Standing, display_for

__all__ = [
    "CLIENT_ADDRESS",
    "ORIGIN",
    "SERVER_ADDRESS",
    "TRIAL_BYTES",
    "Certificate",
    "Display",
    "Ended",
    "Engine",
    "Estimate",
    "LocalEngine",
    "Place",
    "PlaceLost",
    "Standing",
    "campaign_certificate",
    "check_trials",
    "display_for",
    "evidence_bytes",
    "exposition",
    "installed_roots",
    "own_role",
    "prepare",
    "require_kernel",
    "require_room",
    "this_machine",
    "trial_certificate",
    "trial_roles",
    "write_trial_files",
]
