"""Defines the documents that h123 writes and reads back, each with a strict model."""

from h123.documents.gateway_file import GatewayFacts, read_gateway
from h123.documents.reading import fault_of, read_content, read_document, write_document
from h123.documents.shapes import Count, Document, Reason, Shape

__all__ = [
    "Count",
    "Document",
    "GatewayFacts",
    "Reason",
    "Shape",
    "campaign_file",
    "events",
    "fault_of",
    "gateway_file",
    "lab_report",
    "read_content",
    "read_document",
    "read_gateway",
    "reading",
    "result_archive",
    "result_file",
    "shapes",
    "shard",
    "trial_files",
    "write_document",
]
