"""Provenance: where trials ran, what they left behind, and which attempts or files do not count."""
