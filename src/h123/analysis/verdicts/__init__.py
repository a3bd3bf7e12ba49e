"""Verdicts: comparisons that have been judged, and the views of a campaign that are made of judged comparisons."""

__all__ = ["disturbances", "handshakes", "ladder", "repetitions", "treatments", "width"]
