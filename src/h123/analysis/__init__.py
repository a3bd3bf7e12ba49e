"""What a campaign's samples say: estimates, tests and audits; pure functions of the results' tables."""

from h123.analysis.analyse import analyse

__all__ = ["analyse"]
