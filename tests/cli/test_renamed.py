"""Words of the version before: accepted once more, with a line about the new ones."""

import re
from pathlib import Path

import pytest

from cli.conftest import SMOKE, Tool
from documents import changed_campaign
from h123.analysis import analyse
from h123.store import CampaignFolder
from h123.study import Study, load_study
from synthetic import Scenario, make_campaign

RENAMED = [
    (["plan", "smoke"], ["--only", "network=lan"], ["--filter", "network=lan"]),
    (["plan", "smoke"], ["--only=network=lan"], ["--filter=network=lan"]),
    (["plan", "smoke"], ["--lanes", "2"], ["--jobs", "2"]),
    (["plan", "smoke"], ["--width", "10%"], ["--precision", "10%"]),
    (["run", "nowhere"], ["--width=10%", "--at-most", "9"], ["--precision=10%", "--max-blocks", "9"]),
    (["run", "nowhere"], ["--unverified"], ["--allow-unverified"]),
    (["run", "nowhere"], ["--metrics", "nowhere"], ["--metrics-listen", "nowhere"]),
    (["why", "nowhere"], ["--only", "network=lan"], ["--filter", "network=lan"]),
    (["compare", "--url", "x"], ["--i-may-load-this"], ["--allow-remote-load"]),
    (["compare", "--url", "x"], ["--congestion", "own"], ["--congestion", "default"]),
    (["compare", "--url", "x"], ["--congestion=own"], ["--congestion=default"]),
]


@pytest.mark.parametrize(("command", "old", "new"), RENAMED)
def test_an_old_option_does_what_its_new_name_does(
    h123: Tool, command: list[str], old: list[str], new: list[str]
) -> None:
    before, now = h123(*command, *old), h123(*command, *new)
    assert (before.stdout, before.returncode) == (now.stdout, now.returncode)
    *hints, rest = before.stderr.partition(now.stderr) if now.stderr else (before.stderr, "", "")
    assert not rest
    told = hints[0].splitlines()
    assert len(told) == sum(word.startswith("-") for word in old)
    assert all("; the next version will refuse the old" in line for line in told)


def test_help_has_new_names_alone(h123: Tool) -> None:
    shown = "".join(h123(command, "--help").stdout for command in ("run", "plan", "why", "compare"))
    for old in ("only", "width", "at-most", "lanes", "metrics", "unverified", "i-may-load-this"):
        assert not re.search(rf"--{old}(?![-\w])", shown)


def test_the_value_of_an_option_is_no_option(h123: Tool) -> None:
    done = h123("plan", "smoke", "--filter", "--only")
    assert "--filter --only: write FACTOR=LEVEL" in done.stderr
    assert "next version" not in done.stderr


def test_an_option_that_a_command_never_had_stays_unknown(h123: Tool) -> None:
    assert "No such option: --lanes" in h123("doctor", "--lanes", "2").stderr


def test_an_old_value_of_a_study(h123: Tool) -> None:
    study = h123.folder / "old.yaml"
    study.write_text(SMOKE.replace("congestion: cubic", "congestion: own"))
    done = h123.succeed("plan", "old.yaml")
    line = next(number for number, each in enumerate(study.read_text().splitlines(), 1) if "own" in each)
    assert f"old.yaml:{line}: congestion: own is now called default" in done.stderr
    assert load_study(study).settings["congestion"] == "default"


def test_a_level_keeps_the_name_that_the_study_gives_it(tmp_path: Path) -> None:
    study = tmp_path / "old.yaml"
    study.write_text(
        SMOKE.replace("  congestion: cubic\n", "").replace("factors:\n", "factors:\n  congestion: [own, cubic]\n")
    )
    assert load_study(study).factors["congestion"] == {
        "own": {"congestion": "default"},
        "cubic": {"congestion": "cubic"},
    }


def test_old_keys_of_a_study(h123: Tool) -> None:
    servers = "servers:\n  mine: {address: 127.0.0.1, may_load: true, host: x, protocols: [h1]}\n"
    study = h123.folder / "old.yaml"
    study.write_text(SMOKE + "only: {network: [lan]}\n" + servers)
    done = h123.succeed("plan", "old.yaml")
    line = len(SMOKE.splitlines()) + 1
    assert f"old.yaml:{line}: only is now called filter; the next version will refuse the old key" in done.stderr
    assert f"old.yaml:{line + 2}: may_load is now called allow_remote_load" in done.stderr
    assert load_study(study).filter == {"network": ["lan"]}
    assert load_study(study).servers["mine"].allow_remote_load


def test_a_fault_below_an_old_key_has_its_line(h123: Tool) -> None:
    (h123.folder / "old.yaml").write_text(SMOKE + "only: {network: [nowhere]}\n")
    done = h123("plan", "old.yaml")
    assert f"old.yaml:{len(SMOKE.splitlines()) + 1}: 'nowhere' is not a level of 'network'" in done.stderr


def test_a_study_with_both_words_is_refused(h123: Tool) -> None:
    (h123.folder / "old.yaml").write_text(SMOKE + "only: {network: [lan]}\nfilter: {network: [lan]}\n")
    assert "unknown key 'only'" in h123("plan", "old.yaml").stderr


def test_a_campaign_begun_with_old_keys_stays_readable(tmp_path: Path) -> None:
    precision = {"wanted": 0.5, "at_most": 9}
    made = make_campaign(tmp_path / "c", Scenario(blocks=6, only={"network": ["lan"]}, width=precision))
    verdicts = analyse(made)
    with changed_campaign(made.path) as content:
        content["only"], content["width"] = content.pop("filter"), content.pop("precision")
        content["study"]["only"] = {"network": ["lan"]}
        content["study"]["servers"] = {"mine": {"address": "::1", "may_load": True, "host": "x", "protocols": ["h1"]}}
    folder = CampaignFolder.open(made.path)
    assert (folder.level_filter, folder.precision) == ({"network": ["lan"]}, precision)
    study = Study.from_resolved(folder.study)
    assert study.servers["mine"].allow_remote_load
    assert study.filter == {"network": ["lan"]}
    assert analyse(folder)["comparisons"] == verdicts["comparisons"]


def test_a_campaign_begun_with_an_old_value_stays_readable(tmp_path: Path) -> None:
    made = make_campaign(tmp_path / "c", Scenario(blocks=6))
    verdicts = analyse(made)
    with changed_campaign(made.path) as content:
        content["study"]["settings"]["congestion"] = "own"
    folder = CampaignFolder.open(made.path)
    assert Study.from_resolved(folder.study).settings["congestion"] == "default"
    assert folder.study == Study.from_resolved(folder.study).resolved()
    assert analyse(folder)["comparisons"] == verdicts["comparisons"]
