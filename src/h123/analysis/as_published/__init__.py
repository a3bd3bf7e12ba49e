"""The REST-API study's own analysis, reproduced and labelled "as published", next to h123's own verdicts."""

from h123.analysis.as_published.document import as_published

__all__ = ["as_published", "document", "rows"]
