"""Subjects under test: what there is, how to install it, what it can do, how it is started."""

from h123.catalogue.commands import Demand, Role, backend_command, check_supported, client_command, server_command
from h123.catalogue.install import install, installed, prefix
from h123.catalogue.shelf import catalogue, read_subject, subject_names
from h123.catalogue.subject import Subject

__all__ = [
    "Demand",
    "Role",
    "Subject",
    "backend_command",
    "catalogue",
    "check_supported",
    "client_command",
    "install",
    "installed",
    "prefix",
    "read_subject",
    "server_command",
    "subject_names",
]
