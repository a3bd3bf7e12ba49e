"""`--scale`: fewer requests and nothing else."""

from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.study import Study, load_study, make_plan
from study.samples import STUDY, sample_study, write


def test_only_requests_shrink(tmp_path: Path) -> None:
    study = load_study(
        write(tmp_path, STUDY.replace("requests: 4", "requests: 40").replace("timeout: 5s", "warmup: 8"))
    )
    scaled = study.scaled(0.25)
    for whole, part in zip(make_plan(study).trials(), make_plan(scaled).trials(), strict=True):
        before, after = whole.parameters, part.parameters
        assert after.requests == max(1, round(before.requests / 4))
        assert after.warmup == 2
        assert after == before.model_copy(update={"requests": after.requests, "warmup": 2})
        assert (part.id, part.link_seed) == (whole.id, whole.link_seed)


def test_every_user_keeps_a_request(tmp_path: Path) -> None:
    scaled = sample_study(tmp_path).scaled(0.001)
    assert {trial.parameters.requests for trial in make_plan(scaled).trials()} == {1}


def test_a_campaign_knows_its_scale(tmp_path: Path) -> None:
    study = sample_study(tmp_path)
    assert study.resolved()["scale"] == 1
    again = Study.from_resolved(study.scaled(0.5).resolved())
    assert again.scale == 0.5
    assert again.factors["load"]["heavy"]["requests"] == 2


@pytest.mark.parametrize("scale", [0.0, -1.0, 1.5, float("nan")])
def test_scales_that_are_none(tmp_path: Path, scale: float) -> None:
    with pytest.raises(UserError, match="above 0 and at most 1"):
        sample_study(tmp_path).scaled(scale)


def test_levels_must_stay_apart(tmp_path: Path) -> None:
    text = STUDY.replace("users: 8", "users: 1")
    load_study(write(tmp_path, text)).scaled(0.5)
    with pytest.raises(UserError, match="light and heavy of factor load the same"):
        load_study(write(tmp_path, text)).scaled(0.1)
