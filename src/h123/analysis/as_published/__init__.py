"""Repeats the REST-API study's own analysis on a campaign. Its results are labelled "as published" and shown next to
h123's verdicts."""

from h123.analysis.as_published.document import as_published

__all__ = ["as_published", "document", "rows"]
