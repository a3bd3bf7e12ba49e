"""Verdicts: judged comparisons, and the sections of verdicts.json that derive from them."""

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
