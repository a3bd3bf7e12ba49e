"""A campaign watched while it runs: on a terminal, in a log, or from afar."""

from h123.progress.display import Display, Ended, Estimate, Standing, display_for

__all__ = ["Display", "Ended", "Estimate", "Standing", "display_for", "exposition"]
