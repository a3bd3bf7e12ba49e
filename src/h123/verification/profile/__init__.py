"""Finds, from packets, what limits a subject in a few standard situations: the time of its requests is divided into
causes.

The trials run under the virtual clock, so that the speed of the machine and of the subject's program does not matter.
"""

from h123.verification.profile.findings import SituationResult
from h123.verification.profile.measure import profile
from h123.verification.profile.situation import SITUATIONS
from h123.verification.profile.words import holding_words, slowness, summary

__all__ = ["SITUATIONS", "Situation", "SituationResult", "holding_words", "profile", "slowness", "summary"]
