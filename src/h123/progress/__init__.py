"""Shows a campaign's progress while it runs: on a terminal, in a log, or over the network."""

from h123.progress.display import AttemptOutcome, Display, InterimEstimate, Standing, display_for

__all__ = ["AttemptOutcome", "Display", "InterimEstimate", "Standing", "display_for", "exposition"]
