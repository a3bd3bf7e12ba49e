"""Writes a page that shows the course of one trial over time, or of two for comparison. It opens offline."""

from h123.report.trial_view.choice import choose, trial_lines
from h123.report.trial_view.page import write_trial_view

__all__ = ["choose", "trial_lines", "write_trial_view"]
