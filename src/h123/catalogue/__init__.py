"""Describes the subjects under test: their manifests, how to install and start them, and what they can do."""

from typing import TYPE_CHECKING

from h123.base.late_loading import load_late

if TYPE_CHECKING:
    from h123.catalogue.batch import check_failures, install_each
    from h123.catalogue.bodies import block_file, files_folder, make_bodies, make_documents
    from h123.catalogue.commands import (
        command_line,
        controller,
        controllers,
        default_controller,
        is_edge,
        kernel_controller,
        server_uses,
        settable,
        settings,
    )
    from h123.catalogue.declared_constants import DeclaredConstants, load_declared_constants
    from h123.catalogue.demand import ALT_SVC, DEFAULT_CONGESTION, HTTPS_RECORD, Announcement, Demand, Role
    from h123.catalogue.install import (
        MANIFEST,
        Installation,
        damage,
        fingerprint,
        install,
        installation,
        installations,
        installed,
        installed_once,
        prefix,
        remove,
    )
    from h123.catalogue.manifest import (
        LEAST_IDLE_NS,
        NEWEST_TLS,
        PROTOCOLS,
        USUAL_SHARE,
        Ability,
        Client,
        KeyShare,
        Limits,
        Reach,
        Server,
    )
    from h123.catalogue.openings import ALL_FULL, FULL, OPENINGS, QUIC, Resumption, SessionOpening, Sessions, opening
    from h123.catalogue.own_server import OwnServer, OwnSubject, own_subjects
    from h123.catalogue.registry import (
        RejectedSubject,
        catalogue,
        clients_of_any_server,
        load_rejected_subjects,
        read_subject,
        subject_names,
        subjects_folder,
        unknown_subject,
    )
    from h123.catalogue.subject import Subject
    from h123.catalogue.support import CHOOSERS, check_metrics, check_supported

__all__ = [
    "ALL_FULL",
    "ALT_SVC",
    "CHOOSERS",
    "DEFAULT_CONGESTION",
    "FULL",
    "HTTPS_RECORD",
    "LEAST_IDLE_NS",
    "MANIFEST",
    "NEWEST_TLS",
    "OPENINGS",
    "PROTOCOLS",
    "QUIC",
    "USUAL_SHARE",
    "Ability",
    "Announcement",
    "Client",
    "DeclaredConstants",
    "Demand",
    "Installation",
    "KeyShare",
    "Limits",
    "OwnServer",
    "OwnSubject",
    "Reach",
    "RejectedSubject",
    "Resumption",
    "Role",
    "Server",
    "SessionOpening",
    "Sessions",
    "Subject",
    "block_file",
    "catalogue",
    "check_failures",
    "check_metrics",
    "check_supported",
    "clients_of_any_server",
    "command_line",
    "controller",
    "controllers",
    "damage",
    "default_controller",
    "files_folder",
    "fingerprint",
    "install",
    "install_each",
    "installation",
    "installations",
    "installed",
    "installed_once",
    "is_edge",
    "kernel_controller",
    "load_declared_constants",
    "load_rejected_subjects",
    "make_bodies",
    "make_documents",
    "opening",
    "own_subjects",
    "prefix",
    "read_subject",
    "remove",
    "server_uses",
    "settable",
    "settings",
    "subject_names",
    "subjects_folder",
    "unknown_subject",
]

load_late(__name__)
