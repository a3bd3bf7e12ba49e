"""`--scale` on the command line: planned, recorded, and kept when a campaign is gone on with."""

import json

import pytest

from cli.conftest import Tool


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_scaled_campaign_stays_scaled(h123: Tool) -> None:
    options = ["smoke", "--filter", "network=lan", "--scale", "0.5", "--blocks", "1", "--out", "out"]
    h123.succeed("run", *options)
    study = json.loads((h123.folder / "out/campaign.json").read_text())["study"]
    assert study["scale"] == 0.5
    folder = next((h123.folder / "out/trials").iterdir())
    workload = json.loads((folder / "workload.json").read_text())
    assert workload["requests"] == study["settings"]["requests"] == 1
    assert "--scale cannot change" in h123.refusal("run", "smoke", "--out", "out", "--scale", "0.2")
    # What `smoke` has: 2 of each user, so 1 at half the scale.
    h123.succeed("run", "smoke", "--out", "out", "--blocks", "2")
    counts = {json.loads(path.read_text())["requests"] for path in (h123.folder / "out").glob("trials/*/workload.json")}
    assert counts == {1}


def test_a_plan_says_what_a_scale_takes(h123: Tool) -> None:
    whole, part = (h123("plan", "rest-api", "--scale", scale) for scale in ("1", "0.05"))
    assert whole.returncode == part.returncode == 0, part.stderr
    assert "720 trials" in whole.stdout
    assert "720 trials" in part.stdout
    long, short = (
        next(line for line in done.stdout.splitlines() if "trials at once" in line) for done in (whole, part)
    )
    assert long != short


@pytest.mark.parametrize("scale", ["0", "-1", "2", "nan"])
def test_no_such_scale(h123: Tool, scale: str) -> None:
    assert "above 0 and at most 1" in h123.refusal("plan", "rest-api", "--scale", scale)
