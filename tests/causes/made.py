"""Kinds of trials whose time goes to a cause that was made, and cases of them, drawn by a seed.

The truth is by construction: a case is a trial with the cause, and the same trial, of the same seed, without it. What
the cause costs is the time that goes away with it. Where two causes meet, each is there by itself as well.
"""

from importlib import import_module

from causes.drawing import CLIENTS, EVERY, KINDS, LOADS, Case, Kind, Pair, Truth, drawn, named

__all__ = ["CLIENTS", "EVERY", "KINDS", "LOADS", "Case", "Kind", "Pair", "Truth", "drawn", "named"]

# Each adds its kinds to KINDS. A seed draws by a kind's place there, so the order is part of what a seed means.
for module in ("made_answers", "made_windows", "made_connections", "made_links", "made_together"):
    import_module(f"causes.{module}")
