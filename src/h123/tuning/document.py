"""Defines the files of `h123 tune`: tuning.json, from which it resumes, and answer.json (docs/contracts/tuning.md)."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field
from typing_extensions import TypedDict

from h123.documents.shapes import Count, Document, Share

TUNING, ANSWER = "tuning.json", "answer.json"
TuningVerdict = Literal["better", "worse", "same", "open", "withheld"]


class Tuning(Document):
    """The request to `h123 tune`, and what the survey of the candidates found."""

    h123: Literal["tuning/1"] = "tuning/1"
    command: str
    """The command that repeats the tuning."""
    asked: dict[str, str]
    """The options and templates on which the results depend, each as text."""
    knobs: dict[str, list[str]]
    """The values of each knob, the default first."""
    candidates: dict[str, dict[str, str]]
    """The values of each candidate, the default first."""
    dropped: dict[str, str] = Field(default={})
    """The candidates that did not work in the survey, with the reasons."""
    study: str
    """The text of the study, with all candidates and networks. Empty if only the default works."""
    networks: list[str]
    """The networks over which all rounds but the last compare the candidates."""
    held_out: list[str]
    """The networks of the last round."""
    metric: str
    margin: Share
    blocks: Count
    """The number of blocks of the last round."""
    seed: Count


class TuningClaim(TypedDict):
    """What the last round found about the chosen candidate and the default."""

    cell: Mapping[str, str]
    """The levels of the claim's factors."""
    what: str
    """The workload that was measured."""
    metric: str
    verdict: TuningVerdict
    """`better` or `worse`: the difference is beyond the margin. `same`: it is within the margin. `open`: neither is
    certain. `withheld`: the values cannot be compared."""
    ratio: float | None
    """The ratio of the chosen candidate to the default. Its interval is from `low` to `high`."""
    low: float | None
    high: float | None
    confidence: float | None
    p: float | None
    """The p value for a difference beyond the margin, adjusted with Holm's method over all claims of the answer, or
    over all costs."""
    chosen: float | None
    """The median value of the chosen candidate, in the metric's unit."""
    default: float | None
    why: str | None
    """Why the verdict is `withheld`."""
    needed: int | None
    """If the verdict is `open`: the number of blocks that would probably decide it. Null if that is more than is
    practical, or for other verdicts."""


class TuningRound(TypedDict):
    """A round that chose among the candidates."""

    folder: str
    """The name of the campaign's folder, which is next to answer.json."""
    candidates: int
    """The number of candidates, not counting the default."""
    blocks: int


class KnobEffect(TypedDict):
    """The effect of a knob in the rounds. It is exploratory: no test was made."""

    knob: str
    value: str
    """The best value other than the default."""
    ratio: float
    """The ratio of the metric with this value to the metric with the default, averaged over all values of the other
    knobs."""


class TuningAnswer(TypedDict):
    """The content of answer.json."""

    h123: Literal["tuning-answer/1"]
    command: str
    """The command that repeats the tuning."""
    question: str
    chosen: Mapping[str, str] | None
    """The values of the chosen candidate. Null if no candidate but the default worked."""
    default: Mapping[str, str]
    margin: float
    claims: Sequence[TuningClaim]
    """The claims that answer the question, for each network of the last round."""
    costs: Sequence[TuningClaim]
    """What the chosen candidate does to other requests and to other traffic on the link."""
    effects: Sequence[KnobEffect]
    rounds: Sequence[TuningRound]
    blocks: int
    """The number of blocks of the last round."""
    dropped: Mapping[str, str]
    """The candidates that did not work, with the reasons."""
