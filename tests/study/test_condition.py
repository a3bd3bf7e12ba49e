"""Conditions as they are written, and what of a study they may be about."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from h123.base.errors import UserError
from h123.study import Condition, load_study
from study.samples import STUDY, write


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("latency new/base", "cannot be read"),
        ("latency new/base = 1", "one of <=, <, >=, >"),
        ("latenzy new/base <= 1", "no metric 'latenzy'; did you mean latency"),
        ("latency new/base <= 0", "not a valid bound for a ratio"),
        ("latency new/base <= 99999", "0.001 to 1000"),
        ("latency new/base <= 105%", r"write 1.05 for a ratio, or \+105% for a change"),
        ("latency new/base <= -100%", "0.001 to 1000"),
        ("latency new/base <= 200ms", "a ratio or a change"),
        ("latency new <= 1.05", "not a value of latency; write it as in '200ms', or name two levels"),
        ("latency new <= 5%", "not a value of latency"),
        ("latency new <= -5ms", "not a value of latency"),
        ("goodput new >= 50ms", "write it as in '50Mbit/s'"),
        ("rps new >= fast", "write it as in '500/s'"),
        ("latency <= 200ms", "cannot be read"),
        ("x" * 300, "cannot be read"),
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
    ("text", "kept", "bound"),
    [
        ("latency new/base > +5%", "latency new/base <= 1.05", 1.05),
        ("latency new/base > 5 %", "latency new/base <= 1.05", 1.05),
        ("goodput new/base < -10%", "goodput new/base >= 0.9", 0.9),
        ("latency new >= 200 ms", "latency new < 200ms", 0.2),
        ("latency_p99 new > 1.5s", "latency_p99 new <= 1.5s", 1.5),
        ("goodput h3 < 50Mbit/s", "goodput h3 >= 50Mbit/s", 50e6),
        ("goodput h3 < 5MB/s", "goodput h3 >= 5MB/s", 40e6),
        ("memory_server new > 20MB", "memory_server new <= 20MB", 20e6),
        ("rps new < 500/s", "rps new >= 500/s", 500),
        ("rps new < 500", "rps new >= 500", 500),
        ("fell_back h3 > 1%", "fell_back h3 <= 1%", 1),
    ],
)
def test_changes_and_values(text: str, kept: str, bound: float) -> None:
    condition = Condition.forbidding(text)
    assert (condition.holds, condition.bound) == (kept, pytest.approx(bound))
    assert Condition(holds=kept) == condition
    assert not condition.allows(bound * (1.01 if condition.upper else 0.99))


@pytest.mark.parametrize(
    ("required", "said"),
    [
        ("[latency h3/h2 =< 1.05]", "cannot be read"),
        ("[latency h3/h9 <= 1.05]", "'h9' is not compared here; the choices are"),
        ("[latency h9 <= 5ms]", "'h9' is not compared here"),
        ("[latency h3/h3 <= 1.05]", "a level is compared with itself"),
        ("[page_complete h3/h2 <= 1.05]", "measures page visits, and the study has none"),
        ("[latency_p99 h3/h2 <= 1.05]", "needs 300 requests in a trial, and the study's trials have at most 32"),
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
    conditions = "latency h3/h2 <= 1.05, {holds: ttfb h3/h1 < 2, by: estimate}, cpu h1/h3 < +5%, ttfb h2 < 1s"
    text = f"{STUDY}require: [{conditions}]\n"
    study = load_study(write(tmp_path, text))
    resolved = study.resolved()
    assert resolved["require"] == [
        {"holds": "latency h3/h2 <= 1.05", "by": "interval"},
        {"holds": "ttfb h3/h1 < 2", "by": "estimate"},
        {"holds": "cpu h1/h3 < 1.05", "by": "interval"},
        {"holds": "ttfb h2 < 1s", "by": "interval"},
    ]
    assert type(study).from_resolved(resolved).require == study.require
    assert "require" not in load_study(write(tmp_path)).resolved()


def test_a_fault_does_not_quote_a_forbidden_condition_inverted() -> None:
    fault = Condition.forbidding("latency new/bse > 1.05").fault(["new", "base"], ["wall"])
    assert fault
    assert fault.startswith("'latency new/bse': 'bse' is not compared here")
