"""Provenance: where trials ran, what they left behind, and which attempts or files do not count."""

__all__ = ["failed_attempts", "gate", "remote_server", "unproved"]
