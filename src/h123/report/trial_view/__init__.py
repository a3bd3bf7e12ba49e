"""A page about one trial, or two for comparison, that shows its course over time and opens offline."""

from h123.report.trial_view.choice import choose, trial_lines
from h123.report.trial_view.page import write_trial_view

__all__ = ["choose", "trial_lines", "write_trial_view"]
