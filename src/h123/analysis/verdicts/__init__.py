"""Verdicts: comparisons that have been judged, and the views of a campaign that are made of judged comparisons."""

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
