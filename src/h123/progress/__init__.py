"""A campaign watched while it runs: on a terminal, in a log, or from afar."""

from h123.progress.display import AttemptOutcome, Display, InterimEstimate, Standing, display_for

__all__ = ["AttemptOutcome", "Display", "InterimEstimate", "Standing", "display_for", "exposition"]
