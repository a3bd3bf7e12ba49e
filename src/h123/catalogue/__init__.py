"""Subjects under test: what there is, how to install it, what it can do, how it is started."""

from h123.catalogue.batch import check_failures, install_each
from h123.catalogue.commands import Demand, Role, backend_command, check_supported, client_command, server_command
from h123.catalogue.install import Installation, fingerprint, install, installation, installed, prefix, remove
from h123.catalogue.shelf import catalogue, read_subject, subject_names
from h123.catalogue.subject import Subject

__all__ = [
    "Demand",
    "Installation",
    "Role",
    "Subject",
    "backend_command",
    "catalogue",
    "check_failures",
    "check_supported",
    "client_command",
    "fingerprint",
    "install",
    "install_each",
    "installation",
    "installed",
    "prefix",
    "read_subject",
    "remove",
    "server_command",
    "subject_names",
]
