"""Subjects under test: what there is, how to install it, what it can do, how it is started."""

from h123.catalogue.batch import check_failures, install_each
from h123.catalogue.bodies import block_file, files_folder, make_bodies
from h123.catalogue.commands import (
    OWN,
    Demand,
    Role,
    backend_command,
    check_metrics,
    check_supported,
    client_command,
    controller,
    controllers,
    kernel_controller,
    origin_command,
    probe_command,
    server_command,
    server_uses,
)
from h123.catalogue.install import MANIFEST, Installation, fingerprint, install, installation, installed, prefix, remove
from h123.catalogue.shelf import Catalogue, catalogue, read_subject, subject_names, subjects_folder
from h123.catalogue.subject import PROTOCOLS, Subject

__all__ = [
    "MANIFEST",
    "OWN",
    "PROTOCOLS",
    "Catalogue",
    "Demand",
    "Installation",
    "Role",
    "Subject",
    "backend_command",
    "block_file",
    "catalogue",
    "check_failures",
    "check_metrics",
    "check_supported",
    "client_command",
    "controller",
    "controllers",
    "files_folder",
    "fingerprint",
    "install",
    "install_each",
    "installation",
    "installed",
    "kernel_controller",
    "make_bodies",
    "origin_command",
    "prefix",
    "probe_command",
    "read_subject",
    "remove",
    "server_command",
    "server_uses",
    "subject_names",
    "subjects_folder",
]
