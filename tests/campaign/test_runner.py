"""The runner's promises: order, repeats, resume, stopping; with an engine that needs no time."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from campaign.scripted import ScriptedEngine, interrupting, run_scripted
from h123.base.errors import UserError
from h123.base.files.lock import sole_user
from h123.campaign import Campaign, Outcome, extend_campaign, start_campaign
from h123.documents import read_document
from h123.documents.campaign_file import Seal
from h123.execution.jobs import Forecast
from h123.measures import load_attempts
from h123.packets.capture import PACKET, read_packets
from h123.progress.display import NoDisplay as Silent
from h123.store import CampaignFolder, seal
from h123.study import Study, load_study

STUDY = """\
h123: study/1
name: small
question: Does the runner keep its promises?
factors:
  protocol: [h1, h2, h3]
  network: [lan, poor]
settings: {server: go, client: go, congestion: cubic, method: GET, size: 1kB, users: 1, requests: 1}
compare: {factor: protocol, pairs: [h3/h2], twin: h2, margin: 5%}
blocks: 2
seed: 7
"""
WRONG = {"code": "wrong-protocol", "detail": "as the script says"}


def start(tmp_path: Path, text: str = STUDY, out: Path | None = None, **options: Any) -> Campaign:
    tmp_path.mkdir(exist_ok=True)
    study = tmp_path / "small.yaml"
    study.write_text(text)
    defaults: dict[str, Any] = {
        "blocks": None,
        "seed": None,
        "level_filter": {},
        "report": lambda _: None,
        "vouch": lambda _: {},
    }
    return start_campaign(study, out or tmp_path / "out", **{**defaults, **options})


def two_levels(blocks: int, network: str = "poor") -> str:
    """The study with two protocols over one network."""
    text = STUDY.replace("[h1, h2, h3]", "[h2, h3]").replace("[lan, poor]", f"[{network}]")
    return text.replace("blocks: 2", f"blocks: {blocks}")


def extended(folder: Path, blocks: int | None = None, **options: Any) -> Campaign:
    return extend_campaign(folder, blocks=blocks, **{"report": lambda _: None, **options})


def go_on(tmp_path: Path, engine: ScriptedEngine, blocks: int | None = None, lanes: int | None = None) -> Outcome:
    return run_scripted(extended(tmp_path / "out", blocks), engine, Silent(), lanes)


def test_every_trial_runs_once_in_the_planned_order(tmp_path: Path) -> None:
    campaign, engine = start(tmp_path), ScriptedEngine()
    outcome = run_scripted(campaign, engine, Silent(), 1)
    assert engine.ran == [(t.id, 1) for t in campaign.plan.trials()]
    assert (outcome.valid, outcome.failed) == (16, [])


def test_link_is_checked_once_a_block_and_network(tmp_path: Path) -> None:
    campaign, engine = start(tmp_path), ScriptedEngine()
    run_scripted(campaign, engine, Silent())
    firsts = [next(t.id for t in block if t.parameters.network == "poor") for block in campaign.plan.blocks]
    assert engine.checked == firsts


def test_invalid_trial_is_kept_repeated_twice_and_then_given_up(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    victim = campaign.plan.trials()[5].id
    engine = ScriptedEngine(lambda trial, _: [WRONG] if trial["id"] == victim else [])
    outcome = run_scripted(campaign, engine, Silent())
    assert outcome.failed == [victim]
    attempts = [e for e in campaign.folder.events() if e.get("trial") == victim]
    assert [(e["attempt"], e["valid"], e["reasons"]) for e in attempts] == [(n, False, [WRONG]) for n in (1, 2, 3)]
    assert all((campaign.folder.trial(victim, n) / "report.json").exists() for n in (1, 2, 3))


def test_the_packets_of_every_attempt_are_kept_and_sealed(tmp_path: Path) -> None:
    class Recording(ScriptedEngine):
        def wait(self) -> Path:
            folder = super().wait()
            np.ones(len(self.ran), PACKET).tofile(folder / "packets-access.bin")
            return folder

    campaign = start(tmp_path)
    victim = campaign.plan.trials()[0].id
    engine = Recording(lambda trial, attempt: [WRONG] if trial["id"] == victim and attempt == 1 else [])
    run_scripted(campaign, engine, Silent(), 1)
    for number, (trial, attempt) in enumerate(engine.ran, 1):
        folder = campaign.folder.trial(trial, attempt)
        assert len(read_packets(folder)) == number
        assert "packets-access.parquet" in read_document(folder / "seal.json", Seal).files


def test_repeat_that_succeeds_counts(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    victim = campaign.plan.trials()[3].id
    engine = ScriptedEngine(lambda trial, attempt: [WRONG] if trial["id"] == victim and attempt == 1 else [])
    assert run_scripted(campaign, engine, Silent()).failed == []
    assert (victim, 2) in engine.ran
    assert (victim, 3) not in engine.ran


def test_unsupported_is_not_repeated(tmp_path: Path) -> None:
    campaign = start(tmp_path)
    victim = campaign.plan.trials()[3].id
    cannot = {"code": "unsupported", "detail": "exit status 127"}
    engine = ScriptedEngine(lambda trial, _: [cannot] if trial["id"] == victim else [])
    assert run_scripted(campaign, engine, Silent()).failed == [victim]
    assert (victim, 2) not in engine.ran


def test_a_campaign_in_which_nothing_works_stops_early_and_says_why(tmp_path: Path) -> None:
    exited = {"code": "server-exited", "detail": "exit status 1: no such file"}
    engine = ScriptedEngine(lambda _trial, _attempt: [exited])
    with pytest.raises(UserError, match=r"3 trials in a row.*server-exited.*no such file"):
        run_scripted(start(tmp_path), engine, Silent())
    assert len(engine.ran) == 9


@pytest.mark.parametrize("stopped_after", [0, 1, 7, 15])
def test_interrupted_campaign_goes_on_with_the_next_trial(tmp_path: Path, stopped_after: int) -> None:
    campaign = start(tmp_path)
    first, second = ScriptedEngine(interrupting(stopped_after)), ScriptedEngine()
    with pytest.raises(KeyboardInterrupt):
        run_scripted(campaign, first, Silent(), 1)
    outcome = go_on(tmp_path, second, lanes=1)
    assert outcome.valid == 16
    planned = [t.id for t in campaign.plan.trials()]
    assert [name for name, _ in first.ran[:stopped_after]] + [name for name, _ in second.ran] == planned
    assert not list((tmp_path / "out/trials").glob("*.partial"))


def _trial_lines(journal: Path) -> list[int]:
    lines = journal.read_text().splitlines()
    return [at for at, line in enumerate(lines) if '"trial"' in line and '"cell"' in line]


@pytest.mark.parametrize("kept", [-1, 3, 0], ids=["all but one", "three", "none"])
def test_trials_that_the_journal_has_lost_are_put_into_it_again(tmp_path: Path, kept: int) -> None:
    campaign = start(tmp_path)
    run_scripted(campaign, ScriptedEngine(), Silent())
    journal = tmp_path / "out/journal.jsonl"
    before = [event for event in CampaignFolder.open(tmp_path / "out").events() if event["event"] == "trial"]
    lines = journal.read_text().splitlines()
    torn = _trial_lines(journal)[kept]
    journal.write_text("\n".join(lines[:torn]) + "\n" + lines[torn][:30])  # the write was torn by the crash
    engine = ScriptedEngine()
    assert go_on(tmp_path, engine).valid == 16
    assert engine.ran == []
    after = [event for event in CampaignFolder.open(tmp_path / "out").events() if event["event"] == "trial"]
    assert [{**event, "time": ""} for event in after] == [{**event, "time": ""} for event in before]


def test_a_journal_that_is_gone_costs_no_sample(tmp_path: Path) -> None:
    run_scripted(start(tmp_path), ScriptedEngine(), Silent())
    (tmp_path / "out/journal.jsonl").unlink()
    with pytest.raises(UserError, match=r"journal\.jsonl is missing, but there are 16 finished trials"):
        load_attempts(CampaignFolder.open(tmp_path / "out"))
    engine = ScriptedEngine()
    assert go_on(tmp_path, engine).valid == 16
    assert engine.ran == []
    assert len(load_attempts(CampaignFolder.open(tmp_path / "out"))) == 16


@pytest.mark.parametrize("harm", ["an earlier version's", "damaged", "of another trial"])
def test_finished_trials_that_cannot_be_journalled_are_refused_and_kept(tmp_path: Path, harm: str) -> None:
    run_scripted(start(tmp_path), ScriptedEngine(), Silent())
    (tmp_path / "out/journal.jsonl").unlink()
    one, other = CampaignFolder.open(tmp_path / "out").sealed()[:2]
    match harm:
        case "damaged":
            (one / "samples.parquet").write_bytes(b"")
        case "of another trial":
            (one / "event.json").write_bytes((other / "event.json").read_bytes())
            seal.make(one)
        case _:
            (one / "event.json").unlink()
            seal.make(one)
    with pytest.raises(UserError, match=f"lacks the finished trial {one.name}") as refused:
        go_on(tmp_path, ScriptedEngine())
    assert "restore journal.jsonl from a copy" in str(refused.value.remedy)
    assert len(CampaignFolder.open(tmp_path / "out").sealed()) == 16


def test_more_blocks_extend_a_finished_campaign(tmp_path: Path) -> None:
    run_scripted(start(tmp_path), ScriptedEngine(), Silent())
    engine = ScriptedEngine()
    assert go_on(tmp_path, engine, blocks=3).valid == 24
    assert len(engine.ran) == 8
    assert CampaignFolder.open(tmp_path / "out").blocks == 3


def test_fewer_blocks_are_refused(tmp_path: Path) -> None:
    run_scripted(start(tmp_path), ScriptedEngine(), Silent())
    with pytest.raises(UserError, match="fewer"):
        extended(tmp_path / "out", 1)


def test_a_plan_that_another_process_has_changed_is_not_followed(tmp_path: Path) -> None:
    """It was read while the other one had the folder, perhaps minutes ago: subjects are built in between."""
    early = start(tmp_path)
    with early.folder.alone():
        late = CampaignFolder.open(tmp_path / "out")
        early.folder.set_blocks(3)
    with pytest.raises(UserError, match="changed"), late.alone():
        pytest.fail("a second use at once")
    with early.folder.alone(), pytest.raises(UserError, match="another h123"), early.folder.alone():
        pytest.fail("a second use at once")


def test_a_mended_network_goes_on_where_nothing_was_measured_over_it(tmp_path: Path) -> None:
    def written(delay: str) -> str:
        (tmp_path / "own.yaml").write_text(f"h123: network/1\nname: own\ntitle: t\nboth: {{delay: {delay}}}\n")
        return STUDY.replace("[lan, poor]", "[lan, own.yaml]")

    def mended(delay: str) -> Campaign:
        written(delay)
        networks = load_study(tmp_path / "small.yaml").networks
        return extended(tmp_path / "out", networks=networks)

    def stopped(trial: dict[str, Any], _attempt: int) -> list[dict[str, str]]:
        if trial["links"][0]["kind"] == "emulated":
            raise KeyboardInterrupt
        return []

    campaign = start(tmp_path, written("1ms"))
    with pytest.raises(KeyboardInterrupt):
        run_scripted(campaign, ScriptedEngine(stopped), Silent(), 2)
    met: list[Any] = []
    engine = ScriptedEngine(lambda trial, _: met.append(trial["links"][0].get("up")) or [])
    assert run_scripted(mended("2ms"), engine, Silent(), 1).valid == 16
    assert [up for up in met if up] == [{"delay_ns": 2_000_000}] * 8
    assert CampaignFolder.open(tmp_path / "out").networks["own"]["up"] == {"delay_ns": 2_000_000}
    with pytest.raises(UserError, match="network own has changed since this campaign measured over it"):
        run_scripted(mended("3ms"), ScriptedEngine(), Silent())
    assert go_on(tmp_path, ScriptedEngine()).valid == 16


def test_a_campaign_is_not_begun_where_another_process_begins_one(tmp_path: Path) -> None:
    (out := tmp_path / "out").mkdir()
    with sole_user(out, "a test"), pytest.raises(UserError, match="another h123"):
        start(tmp_path)
    assert not list(out.iterdir())


def test_full_disk_is_refused_before_the_first_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = start(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    with pytest.raises(UserError, match="free; this campaign needs"):
        run_scripted(campaign, engine := ScriptedEngine(), Silent())
    assert engine.ran == []


def test_a_disk_without_room_for_the_packets_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Samples and logs alone would fit: 16 trials, of which 8 are over an emulated link.
    for size, refused in (("1kB", False), ("10MB", True)):
        campaign = start(tmp_path / size, STUDY.replace("1kB", size))
        monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 3_500_000})())
        if refused:
            with pytest.raises(UserError, match=r"3\.5 MB free; this campaign needs about"):
                run_scripted(campaign, ScriptedEngine(), Silent())
        else:
            assert run_scripted(campaign, ScriptedEngine(), Silent()).failed == []
        monkeypatch.undo()


def test_forecast_learns(tmp_path: Path) -> None:
    trials = start(tmp_path).plan.trials()
    forecast = Forecast({t.id: 2.0 for t in trials})
    alike = [t for t in trials if t.cell == trials[0].cell]
    assert {forecast.seconds(t) for t in trials} == {2.0}
    forecast.learn(trials[0], 4.0)
    assert {forecast.seconds(t) for t in trials} == {4.0}, "all turn out as wrong as the first"
    forecast.learn(trials[0], 8.0)
    assert {forecast.seconds(t) for t in alike} == {6.0}


@pytest.mark.parametrize("harm", [shutil.rmtree, lambda machine: (machine / "report.json").write_text("{}")])
def test_a_trial_whose_files_are_gone_or_changed_is_run_again_and_no_other(
    tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    campaign = start(tmp_path)
    run_scripted(campaign, ScriptedEngine(), Silent(), 1)
    victim = campaign.plan.trials()[5].id
    harm(campaign.folder.trial(victim, 1))
    said: list[str] = []
    again = extended(tmp_path / "out", report=said.append)
    engine = ScriptedEngine()
    outcome = run_scripted(again, engine, Silent(), 1)
    assert [name for name, _ in engine.ran] == [victim]
    assert (outcome.valid, outcome.failed) == (16, [])
    assert [line for line in said if line.startswith(f"{victim}~1: ") and line.endswith("the trial runs again")]
    assert CampaignFolder.open(tmp_path / "out").damaged_trials() == {}
    assert campaign.folder.trial(victim, 2).is_dir()


@pytest.mark.parametrize("parameter", ["size", "timeout", "trial_timeout"])
def test_a_damaged_study_with_a_huge_number_is_refused(tmp_path: Path, parameter: str) -> None:
    """It passed, and estimates overflowed (found by tools/fuzz)."""
    resolved = start(tmp_path).plan.study.resolved()
    resolved["settings"][parameter] = 10**400
    with pytest.raises(UserError, match="the campaign's study is not as h123 writes it"):
        Study.from_resolved(resolved)
