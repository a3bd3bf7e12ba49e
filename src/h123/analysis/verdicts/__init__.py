"""Judges comparisons, and computes the sections of verdicts.json that depend on their verdicts."""

__all__ = [
    "audits",
    "decomposition",
    "disturbances",
    "handshakes",
    "judgement",
    "ladder",
    "outlook",
    "repetitions",
    "treatments",
    "twins",
    "width",
]
