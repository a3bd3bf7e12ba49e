"""Presents the verification of subjects: as pages, and as a matrix in the terminal and on a page."""

from h123.report.catalogue.catalogue import about_subjects, role_tables, write_catalogue
from h123.report.catalogue.constants import check_declarations, constants_table, write_constants
from h123.report.catalogue.matrix import print_matrix, write_matrix
from h123.report.catalogue.measured_constants import measured_tables
from h123.report.catalogue.profiles import profile_tables, write_profiles

__all__ = [
    "about_subjects",
    "check_declarations",
    "constants_table",
    "measured_tables",
    "print_matrix",
    "profile_tables",
    "role_tables",
    "write_catalogue",
    "write_constants",
    "write_matrix",
    "write_profiles",
]
