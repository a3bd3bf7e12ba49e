"""One trial for people, or two side by side: its course in time, on a page that opens offline."""

from h123.report.trial_view.choice import choose
from h123.report.trial_view.page import write_trial_view

__all__ = ["choose", "write_trial_view"]
