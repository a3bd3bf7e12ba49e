"""Tries settings of a server: reads knobs, makes candidates, chooses one in rounds, and writes the answer."""

from h123.tuning.candidates import DEFAULT, Candidate, ServerTemplate, candidates, placeholders
from h123.tuning.decision import claims
from h123.tuning.document import ANSWER, TUNING, KnobEffect, Tuning, TuningAnswer, TuningClaim, TuningRound
from h123.tuning.drafting import changed, levels, seed_of, study_text
from h123.tuning.halving import HalvingRound, Scores, effects, half, ranked, rounds
from h123.tuning.knobs import Knob, KnobLibrary, read_knobs
from h123.tuning.words import answer_lines, certainty, settings_words

__all__ = [
    "ANSWER",
    "DEFAULT",
    "TUNING",
    "Candidate",
    "HalvingRound",
    "Knob",
    "KnobEffect",
    "KnobLibrary",
    "Scores",
    "ServerTemplate",
    "Tuning",
    "TuningAnswer",
    "TuningClaim",
    "TuningRound",
    "answer_lines",
    "candidates",
    "certainty",
    "changed",
    "claims",
    "effects",
    "half",
    "levels",
    "placeholders",
    "ranked",
    "read_knobs",
    "rounds",
    "seed_of",
    "settings_words",
    "study_text",
]
