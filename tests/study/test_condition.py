"""Conditions as they are written, and what of a study they may be about."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from h123.errors import UserError
from h123.study import Condition, load_study
from study.samples import STUDY, write


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("latency new/base", "cannot be read"),
        ("latency new/base = 1", "one of <=, <, >=, >"),
        ("latenzy new/base <= 1", "no metric 'latenzy'; did you mean latency"),
        ("latency new/base <= 0", "no bound for a ratio"),
        ("latency new/base <= 99999", "0.001 to 1000"),
    ],
)
def test_what_means_nothing(text: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Condition(holds=text)
    with pytest.raises(ValueError, match=said):
        Condition.forbidding(text)


def test_written_short_and_long() -> None:
    short, long = (
        Condition.model_validate(given)
        for given in ("latency  new / base<=1.050", {"holds": "latency new/base <= 1.05", "by": "estimate"})
    )
    assert (short.holds, short.by) == ("latency new/base <= 1.05", "interval")
    assert (str(short), str(long)) == ("latency new/base <= 1.05", "latency new/base <= 1.05 (estimate)")
    assert Condition.forbidding("latency new/base > 1.05") == short


@pytest.mark.parametrize(
    ("required", "said"),
    [
        ("[latency h3/h2 =< 1.05]", "cannot be read"),
        ("[latency h3/h9 <= 1.05]", "of latency only h3/h2, h3/h1 is compared, not h3/h9"),
        ("[latency h2/h3 <= 1.05]", "h3/h2 is compared: turn the condition round"),
        ("[cpu h3/h2 <= 1.05]", "of cpu nothing is compared"),
        ("[{holds: latency h3/h2 <= 1.05, by: median}]", "'median' is not allowed; the choices are interval, estimate"),
        ("[{hold: latency h3/h2 <= 1.05}]", "unknown key 'hold'; did you mean holds?"),
    ],
)
def test_a_study_that_requires_what_it_does_not_compare(tmp_path: Path, required: str, said: str) -> None:
    path = write(tmp_path, STUDY.replace("seed: 5", f"require: {required}\nseed: 5"))
    with pytest.raises(UserError) as refused:
        load_study(path)
    assert refused.value.message.startswith(f"{path}:26: ")
    assert said in refused.value.message


def test_what_a_clock_does_not_tell(tmp_path: Path) -> None:
    text = STUDY.replace("[latency, ttfb]", "[cpu]").replace("timeout: 5s", "clock: virtual")
    with pytest.raises(UserError, match="cpu has no value under the virtual clock"):
        load_study(write(tmp_path, f"{text}require: [cpu h3/h2 <= 1]\n"))


def test_what_a_study_requires_is_kept(tmp_path: Path) -> None:
    text = f"{STUDY}require: [latency h3/h2 <= 1.05, {{holds: ttfb h3/h1 < 2, by: estimate}}]\n"
    study = load_study(write(tmp_path, text))
    resolved = study.resolved()
    assert resolved["require"] == [
        {"holds": "latency h3/h2 <= 1.05", "by": "interval"},
        {"holds": "ttfb h3/h1 < 2", "by": "estimate"},
    ]
    assert type(study).from_resolved(resolved).require == study.require
    assert "require" not in load_study(write(tmp_path)).resolved()
