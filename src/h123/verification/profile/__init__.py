"""Profiles what limits a subject in a few standard situations: what its requests spent their time on, from packets.

The trials run under the virtual clock, so that neither the machine nor the subject's processing plays a part.
"""

from h123.verification.profile.findings import SituationResult
from h123.verification.profile.measure import profile
from h123.verification.profile.situation import SITUATIONS, Situation
from h123.verification.profile.words import holding_words, slowness, summary

__all__ = ["SITUATIONS", "Situation", "SituationResult", "holding_words", "profile", "slowness", "summary"]
