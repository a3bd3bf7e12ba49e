"""What a campaign found, for people: the terminal, the page, the figures. Reads verdicts.json and raw files."""

from h123.report.catalogue import write_catalogue
from h123.report.claims import print_claims
from h123.report.difference import sentence
from h123.report.matrix import print_matrix, write_matrix
from h123.report.page import write_report
from h123.report.terminal import print_summary

__all__ = [
    "print_claims",
    "print_matrix",
    "print_summary",
    "sentence",
    "write_catalogue",
    "write_matrix",
    "write_report",
]
