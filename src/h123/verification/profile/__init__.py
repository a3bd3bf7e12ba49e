"""Finds what limits a subject in a few standard situations: from packets, it attributes the time of requests to causes.

The trials run under the virtual clock, so that the machine and the subject's processing do not matter.
"""

from h123.verification.profile.findings import SituationResult
from h123.verification.profile.measure import profile
from h123.verification.profile.situation import SITUATIONS, Situation
from h123.verification.profile.words import holding_words, slowness, summary

__all__ = ["SITUATIONS", "Situation", "SituationResult", "holding_words", "profile", "slowness", "summary"]
