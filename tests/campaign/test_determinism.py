"""A verified trial is executed twice; whatever differs is found, and told apart from the randomness of TLS."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from campaign.scripted import HERE, ScriptedEngine, run_scripted
from campaign.test_runner import STUDY, Silent, start
from h123.base.errors import UserError
from h123.campaign import find_trial, verify_trial
from h123.cli.subjects.verify import print_repetition
from h123.execution import LocalPool
from h123.measures import Repetition
from h123.store import CampaignFolder
from h123.store.columns import TIME_COLUMNS
from printing import printed
from synthetic import changed_samples

BOTH = STUDY.replace("[lan, poor]", "[poor]\n  clock: [wall, virtual]").replace("[h1, h2, h3]", "[h2, h3]")
COUNTS = {"packets_in": 900, "bytes_in": 1_000_000, "delivered": 890, "bytes_delivered": 990_000, "lost": 10}
COUNTS |= {"queue_dropped": 0, "blocked": 0, "in_flight": 0}
LINK = {
    "name": "access",
    "kind": "emulated",
    "directions": {name: {**COUNTS, "drop_set": "ab", "lateness_ns": {"p99": 0}} for name in ("up", "down")},
}
Change = Callable[[Path], None]


class Repeating(ScriptedEngine):
    """Executes everything alike, but for what `change` does to the second execution's files."""

    def __init__(self, change: Change = lambda _: None) -> None:
        super().__init__(links=[LINK])
        self._change = change
        self.folders: list[Path] = []

    def wait(self) -> Path:
        folder = super().wait()
        self.folders.append(folder)
        if len(self.folders) == 2:
            self._change(folder)
        return folder


def down(**changes: Any) -> Change:
    """Changes of the counters of the link."""

    def change(folder: Path) -> None:
        report = json.loads((folder / "report.json").read_text())
        report["links"][0]["directions"]["down"].update(changes)
        (folder / "report.json").write_text(json.dumps(report))

    return change


def row(edit: Callable[[list[str]], list[str]]) -> Change:
    """Changes of the last sample's fields."""

    def change(folder: Path) -> None:
        file = folder / "samples.csv"
        *rest, last = file.read_text().splitlines()
        file.write_text("\n".join([*rest, ",".join(edit(last.split(",")))]) + "\n")

    return change


def later(ns: int) -> Change:
    """The last sample ends later."""
    return row(lambda fields: [*fields[:6], str(int(fields[6]) + ns), *fields[7:]])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CampaignFolder:
    monkeypatch.setattr("h123.execution.preparation.virtual_kernel", lambda: tmp_path / "linux")
    campaign = start(tmp_path, BOTH, blocks=1)
    run_scripted(campaign, ScriptedEngine(links=[LINK]), Silent())
    return campaign.folder


def trial_of(folder: CampaignFolder, clock: str) -> Path:
    return next(path for path in folder.sealed() if f"-{clock}-" in path.name)


def verified(folder: CampaignFolder, engine: ScriptedEngine) -> Repetition:
    return verify_trial(
        find_trial(trial_of(folder, "virtual")), LocalPool(engine=engine, machine=HERE), lambda _: None
    ).again


def said(found: Repetition) -> str:
    return printed(lambda console: print_repetition("b01", found, console), width=200)


def test_the_same_twice_is_identical(folder: CampaignFolder) -> None:
    engine = Repeating()
    found = verified(folder, engine)
    assert found.identical
    assert found.repeated
    assert said(found).startswith("b01: identical\n")
    kept = json.loads((trial_of(folder, "virtual") / "trial.json").read_text())
    assert [name for name, _ in engine.ran] == [kept["id"]] * 2
    assert engine.abreast[-1] == ["1", "2"], "both at once"
    assert not any(path.exists() for path in engine.folders), "nothing is kept"


@pytest.mark.parametrize(
    ("change", "repeated", "words"),
    [
        (down(drop_set="cd"), False, "access/down drop_set: ab and cd"),
        (down(lost=11), False, "access/down lost: 10 and 11"),
        (down(bytes_in=1_000_002), True, "access/down bytes_in: 1000000 and 1000002"),
        (down(bytes_in=1_000_100), False, "access/down bytes_in: 1000000 and 1000100"),
        (down(lateness_ns={"p99": 9}), True, "identical"),
        (later(1000), True, "1 times differ, by at most 1 µs"),
        (later(1_000_000), False, "1 times differ, by at most 1 ms"),
        (row(lambda fields: [*fields[:7], "500", *fields[8:]]), False, "1 outcomes differ"),
        (row(lambda fields: [*fields[:5], "", *fields[6:]]), False, "1 times differ"),
    ],
)
def test_a_difference_is_found_and_said(folder: CampaignFolder, change: Change, repeated: bool, words: str) -> None:
    found = verified(folder, Repeating(change))
    assert found.repeated == repeated
    assert words in said(found)


def test_times_are_counted_from_the_first_start(folder: CampaignFolder) -> None:
    """When the kernel's clock began says nothing about the trial."""

    def shift(folder: Path) -> None:
        with changed_samples(folder) as rows:
            for row in rows:
                row.update({name: str(int(row[name]) + 77_000) for name in TIME_COLUMNS if row[name]})

    assert verified(folder, Repeating(shift)).identical


def test_the_stored_trial_must_be_repeated_too(folder: CampaignFolder) -> None:
    """Two executions of today that are alike say nothing about the one that results were computed from."""
    found = find_trial(trial_of(folder, "virtual"))
    before = verify_trial(found, LocalPool(engine=Repeating(), machine=HERE), lambda _: None)
    assert before.stored is not None
    down(lost=11)(trial_of(folder, "virtual"))
    after = verify_trial(found, LocalPool(engine=Repeating(), machine=HERE), lambda _: None)
    assert after.stored is not None
    assert after.again.identical
    assert not after.repeated
    assert "access/down lost: 11 and 10" in said(after.stored)


def test_without_a_stored_trial_two_executions_are_compared(folder: CampaignFolder) -> None:
    found = find_trial(folder.path, trial_of(folder, "virtual").name)
    shutil.rmtree(trial_of(folder, "virtual"))
    verification = verify_trial(found, LocalPool(engine=Repeating(), machine=HERE), lambda _: None)
    assert verification.stored is None
    assert verification.repeated


def test_a_failed_execution_says_why(folder: CampaignFolder) -> None:
    engine = ScriptedEngine(lambda _trial, _attempt: [{"code": "client-failed", "detail": "as scripted"}])
    with pytest.raises(UserError, match="client-failed: as scripted"):
        verified(folder, engine)


def test_a_trial_is_named_in_two_ways(folder: CampaignFolder) -> None:
    path = trial_of(folder, "virtual")
    name = path.name.partition("~")[0]
    assert find_trial(path).trial.id == find_trial(folder.path, name).trial.id == name
    assert find_trial(folder.path, path.name).trial.id == name


def test_what_cannot_be_verified(folder: CampaignFolder, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="trial under the wall clock"):
        find_trial(trial_of(folder, "wall"))
    with pytest.raises(UserError, match="is a campaign"):
        find_trial(folder.path)
    with pytest.raises(UserError, match="has no trial 'b99'"):
        find_trial(folder.path, "b99")
    for where in (tmp_path, tmp_path / "nowhere", folder.path / "trials"):
        with pytest.raises(UserError, match="not the folder of a campaign's trial"):
            find_trial(where)
