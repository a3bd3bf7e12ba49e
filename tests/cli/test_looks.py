"""When a campaign that goes on until it is decided goes on: where conditions are required, for their sake alone."""

from pathlib import Path

import pytest

from h123.cli.campaigns.requirements import later_look, required
from synthetic import NETWORKS, Scenario, make_campaign

EFFECT = {("poor", "h3"): 1.2}
WIDE = 0.3
"""Of a trial's noise, with which eight blocks decide nothing of the study's own question."""


@pytest.mark.parametrize(
    ("require", "noise", "expected"),
    [
        ((), 0.02, None),
        ((), WIDE, 12),
        (("latency h3/h2 <= 1.2",), 0.02, 12),  # which is the truth: not decided, though the question is
        (("latency h3/h2 <= 9",), WIDE, None),  # decided, though the question is not
        (("latency h3/h2 <= 9", "latency h3/h2 <= 1.2"), 0.02, 12),
        (("latency h3/h2 <= 1.01",), 0.02, None),
    ],
)
def test_it_goes_on_for_what_is_asked(
    tmp_path: Path, require: tuple[str, ...], noise: float, expected: int | None
) -> None:
    folder = make_campaign(
        tmp_path / "c",
        Scenario(
            blocks=8,
            looks=(8, 12),
            require=require,
            trial_noise=noise,
            effects=EFFECT,
            protocols=("h2", "h3"),
            pairs=("h3/h2",),
            networks={"poor": NETWORKS["poor"]},
        ),
    )
    assert [one.holds for one in required(folder)] == list(require)
    assert later_look(folder) == expected
