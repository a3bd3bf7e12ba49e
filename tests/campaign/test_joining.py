"""Shards become the campaign that one machine would have run, or are refused in words; with an engine that needs no
time. The property test cuts shards out of a campaign of real trials under the virtual clock."""

import dataclasses
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from campaign.scripted import ScriptedEngine, run_scripted
from campaign.shard_copies import content, cut, plan_of
from campaign.test_runner import Silent, extended, start, two_levels
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.base.paths import project_root, typed
from h123.campaign import Joined, join_shards
from h123.documents.shard import Shard, ranges
from h123.store import CampaignFolder

BLOCKS, EACH = 4, 3
SMALL = two_levels(BLOCKS)
VIRTUAL = SMALL.replace("settings: {", "settings: {clock: virtual, ")


def joined(folder: Path, *shards: CampaignFolder | Path) -> Joined:
    paths = [shard if isinstance(shard, Path) else shard.path for shard in shards]
    return join_shards(paths, folder, lambda _: None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    """A campaign of the wall clock, run by one machine."""
    campaign = start(tmp_path_factory.mktemp("wall"), SMALL)
    run_scripted(campaign, ScriptedEngine(), Silent(), 1)
    return CampaignFolder.open(campaign.folder.path)


@pytest.fixture(scope="module")
def virtual(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("h123.execution.preparation.virtual_kernel", lambda: Path("linux"))
        campaign = start(tmp_path_factory.mktemp("virtual"), VIRTUAL)
        run_scripted(campaign, ScriptedEngine(), Silent(), 1)
    return CampaignFolder.open(campaign.folder.path)


def thirds(whole: CampaignFolder, folder: Path) -> list[CampaignFolder]:
    return [cut(whole, Shard.read(f"{k}/3"), folder / str(k)) for k in (1, 2, 3)]


def verdicts(folder: CampaignFolder, as_name: Path) -> bytes:
    """Of a copy with that name: verdicts name their campaign."""
    shutil.copytree(folder.path, as_name)
    return analysed(as_name)


def analysed(folder: Path) -> bytes:
    """verdicts.json, but for how long more blocks would take, which depends on when the trials ran."""
    analyse(CampaignFolder.open(folder))
    return re.sub(rb'"seconds": [0-9.e+-]+', b'"seconds": null', (folder / "verdicts.json").read_bytes())


def test_a_shard_is_every_nth_block_or_those_that_are_named() -> None:
    assert Shard.read("3/40").blocks(100) == [3, 43, 83]
    assert Shard.read("3/40").blocks(40) == [3]
    assert Shard.read("blocks:9-12, 5").text == "blocks:5,9-12"
    assert Shard.read("blocks:5,9-12").blocks(12) == [5, 9, 10, 11, 12]
    assert ranges([1, 2, 4, 6, 7, 8]) == "1,2,4,6-8"
    every = sorted(itertools.chain.from_iterable(Shard.read(f"{k}/7").blocks(23) for k in range(1, 8)))
    assert every == list(range(1, 24))


@pytest.mark.parametrize("text", ["0/4", "5/4", "3", "3/", "blocks:", "blocks:9-5", "blocks:1,,2", "3/4/5", "-1/4"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UserError) as refused:
        Shard.read(text)
    assert "3/40" in str(refused.value.remedy)


@pytest.mark.parametrize(("text", "word"), [("9/9", "at most 4 shards"), ("blocks:3-7", "--blocks")])
def test_a_shard_without_blocks_is_refused(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(UserError) as refused:
        start(tmp_path, SMALL, shard=Shard.read(text))
    assert word in str(refused.value.remedy)


def test_a_shard_runs_its_blocks_alone_and_goes_on_with_the_same_command(tmp_path: Path) -> None:
    campaign, engine = start(tmp_path, SMALL, shard=Shard.read("2/3")), ScriptedEngine()
    assert {trial.block for trial in campaign.plan.trials()} == {2}
    run_scripted(campaign, engine, Silent(), 1)
    assert len(engine.ran) == EACH
    longer, more = extended(tmp_path / "out", 6), ScriptedEngine()
    run_scripted(longer, more, Silent(), 1)
    assert [name[:3] for name, _ in more.ran] == ["b05"] * EACH
    folder = CampaignFolder.open(tmp_path / "out")
    assert (folder.blocks, folder.shard) == (6, Shard("2/3"))


def test_shards_that_machines_ran_are_the_campaign(tmp_path: Path, whole: CampaignFolder) -> None:
    study = tmp_path / "study"
    for k in (1, 2, 3):
        campaign = start(study, SMALL, out=tmp_path / "shards" / str(k), shard=Shard.read(f"{k}/3"))
        run_scripted(campaign, ScriptedEngine(), Silent(), 1)
    result = joined(tmp_path / "campaign", *sorted((tmp_path / "shards").iterdir()))
    assert (result.added, result.missing) == ([1, 2, 3, 4], [])
    ran = [event["trial"] for event in result.folder.events() if event["event"] == "trial"]
    assert sorted(ran) == sorted(trial.id for trial in plan_of(whole).trials())
    assert result.folder.shard is None


def test_shards_come_in_any_order_and_again(tmp_path: Path, whole: CampaignFolder) -> None:
    first, second, third = thirds(whole, tmp_path)
    out = tmp_path / "campaign"
    assert joined(out, third).missing == [1, 2, 4]
    assert joined(out, first, third).added == [1, 4]
    assert joined(out, first, first, third).added == []
    result = joined(out, third, second)
    assert (result.added, result.missing) == ([2], [])
    assert verdicts(result.folder, tmp_path / "a" / "c") == verdicts(whole, tmp_path / "b" / "c")
    rows = [event for event in result.folder.events() if event["event"] == "shard"]
    assert [(row["shard"], row["blocks"]) for row in rows] == [("3/3", [3]), ("1/3", [1, 4]), ("2/3", [2])]
    assert all(row["places"]["here"]["cpu"] == "Quick One" for row in rows)


def test_a_joined_campaign_can_be_finished_here(tmp_path: Path, whole: CampaignFolder) -> None:
    first, _, third = thirds(whole, tmp_path)
    result = joined(tmp_path / "out", first, third)
    campaign, engine = extended(result.folder.path), ScriptedEngine()
    assert run_scripted(campaign, engine, Silent(), 1).valid == BLOCKS * EACH
    assert {name[:3] for name, _ in engine.ran} == {"b02"}
    assert joined(tmp_path / "out", first).missing == []


def test_a_torn_shard_gives_its_finished_blocks(tmp_path: Path, whole: CampaignFolder) -> None:
    torn = cut(whole, Shard.read("1/2"), tmp_path / "torn", trials=EACH + 1)
    result = joined(tmp_path / "out", torn)
    assert (result.added, result.missing, result.unfinished) == ([1], [2, 3, 4], {torn.path: [3]})
    later = cut(whole, Shard.read("1/2"), tmp_path / "later")
    assert joined(tmp_path / "out", later).added == [3], "it went on where it was"
    assert joined(tmp_path / "out", torn).missing == [2, 4], "an earlier copy takes nothing away"


def test_a_shard_that_never_began_is_passed_over(tmp_path: Path, whole: CampaignFolder) -> None:
    (tmp_path / "empty").mkdir()
    result = joined(tmp_path / "out", tmp_path / "empty", cut(whole, Shard.read("1/1"), tmp_path / "one"))
    assert (list(result.empty), result.missing) == ([tmp_path / "empty"], [])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"seed": 8}, ["seed is 8, but 7 in"]),
        ({"level_filter": {"protocol": ["h3"]}}, ["filter.protocol is"]),
        ({"subjects": {}}, ["subjects.go is 'absent'"]),
        ({"looks": [2, 4]}, ["looks is"]),
    ],
)
def test_another_campaigns_shard_is_refused_and_nothing_changes(
    tmp_path: Path, whole: CampaignFolder, other: dict[str, Any], words: list[str]
) -> None:
    mine, foreign = cut(whole, Shard("1/2"), tmp_path / "1"), cut(whole, Shard("2/2"), tmp_path / "2", **other)
    out = joined(tmp_path / "out", mine).folder.path
    before = content(out)
    with pytest.raises(UserError) as refused:
        joined(out, foreign)
    assert all(word in refused.value.message for word in [*words, str(foreign.path / "campaign.json")])
    assert content(out) == before


def test_what_differs_is_named_however_deep(tmp_path: Path, whole: CampaignFolder) -> None:
    study = json.loads(json.dumps(whole.study))
    study["settings"]["requests"] = 2
    network = json.loads(json.dumps(whole.networks))
    network["poor"]["down"]["delay_ns"] = 1
    subjects = {name: {**facts, "fingerprint": "0" * 64} for name, facts in whole.subjects.items()}
    mine = cut(whole, Shard("1/2"), tmp_path / "1")
    for number, (other, word) in enumerate(
        [
            ({"study": study}, "study.settings.requests is 2, but 1 in"),
            ({"networks": network}, "networks.poor.down.delay_ns is 1, but"),
            ({"subjects": subjects}, "subjects.go.fingerprint is '0000"),
        ]
    ):
        with pytest.raises(UserError) as refused:
            joined(tmp_path / "out", mine, cut(whole, Shard("2/2"), tmp_path / f"f{number}", **other))
        assert word in refused.value.message
    assert not (tmp_path / "out").exists()


def test_a_changed_file_is_refused(tmp_path: Path, whole: CampaignFolder) -> None:
    shard = cut(whole, Shard("1/2"), tmp_path / "1")
    attempt = shard.sealed()[-1]
    (attempt / "samples.parquet").write_bytes(b"PAR1")
    with pytest.raises(UserError) as refused:
        joined(tmp_path / "out", shard)
    assert str(attempt) in refused.value.message
    assert "samples.parquet has changed" in refused.value.message


def test_a_virtual_block_that_two_machines_ran_alike_is_taken_once(tmp_path: Path, virtual: CampaignFolder) -> None:
    one, other = cut(virtual, Shard("1/1"), tmp_path / "1"), cut(virtual, Shard("1/2"), tmp_path / "2", place="b")
    assert joined(tmp_path / "out", one, other).missing == []
    result = joined(tmp_path / "out2", other, one)
    assert result.missing == []
    assert len([event for event in result.folder.events() if event["event"] == "trial"]) == BLOCKS * EACH


def test_a_virtual_block_that_did_otherwise_elsewhere_names_kernel_processor_and_build(
    tmp_path: Path, virtual: CampaignFolder
) -> None:
    trial = plan_of(virtual).blocks[2][0].id
    one = cut(virtual, Shard("1/1"), tmp_path / "1")
    other = cut(virtual, Shard("1/2"), tmp_path / "2", place="b", changed=[trial])
    with pytest.raises(UserError) as refused:
        joined(tmp_path / "out", one, other)
    said = refused.value.message
    assert all(word in said for word in [trial, "client.json", "6.1.0", "Quick One", "1abe1", "be11", "b, Linux"])
    assert f"h123 verify {typed(other.path)} {trial}" in str(refused.value.remedy)


def test_a_block_of_the_wall_clock_is_measured_once(tmp_path: Path, whole: CampaignFolder) -> None:
    trial = plan_of(whole).blocks[0][0].id
    one = cut(whole, Shard("1/1"), tmp_path / "1")
    other = cut(whole, Shard("1/2"), tmp_path / "2", place="b", changed=[trial])
    with pytest.raises(UserError, match="measured twice"):
        joined(tmp_path / "out", one, other)


def test_an_interrupted_join_goes_on(tmp_path: Path, whole: CampaignFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    shards, appended = thirds(whole, tmp_path), itertools.count()
    append = CampaignFolder.append

    def stop(folder: CampaignFolder, event: Any) -> None:
        if next(appended) == 3:
            raise KeyboardInterrupt
        append(folder, event)

    monkeypatch.setattr(CampaignFolder, "append", stop)
    with pytest.raises(KeyboardInterrupt):
        joined(tmp_path / "out", *shards)
    monkeypatch.undo()
    result = joined(tmp_path / "out", *shards)
    assert result.missing == []
    assert verdicts(result.folder, tmp_path / "a" / "c") == verdicts(whole, tmp_path / "b" / "c")


def test_looks_at_a_shard_count(tmp_path: Path, whole: CampaignFolder) -> None:
    shards = thirds(whole, tmp_path)
    shards[0].append({"event": "look", "blocks": 2})
    result = joined(tmp_path / "out", *shards)
    again = joined(tmp_path / "out", *shards)
    assert [e["blocks"] for e in again.folder.events() if e["event"] == "look"] == [2]
    assert analyse(result.folder)["looks"]["blocks"] == [2, BLOCKS]


def test_a_lone_shard_says_what_it_is(tmp_path: Path, whole: CampaignFolder) -> None:
    from h123.report.text.trust.shard import shard_lines

    found = analyse(cut(whole, Shard("2/2"), tmp_path / "2"))
    assert found["shard"] == {"name": "2/2", "blocks": [2, 4], "planned": BLOCKS}
    assert found["blocks"] == {"planned": BLOCKS, "complete": 2}
    (line,) = shard_lines(found)
    assert "shard 2/2 of a campaign (blocks 2, 4 of 4)" in line
    assert "shard" not in analyse(whole)


@dataclasses.dataclass(frozen=True)
class Part:
    """A shard of a split: its blocks, after how many trials it was stopped, what is wrong with it, and how often it is
    given."""

    blocks: tuple[int, ...]
    stopped: int | None
    fault: str | None
    copies: int


@st.composite
def splits(draw: st.DrawFn, blocks: int, each: int) -> list[Part]:
    """Each block in some shard, some of them in several, in any order."""
    owners = draw(st.lists(st.integers(0, 3), min_size=blocks, max_size=blocks))
    parts = []
    for owner in sorted(set(owners)):
        extra = draw(st.sets(st.integers(1, blocks), max_size=1))
        numbers = tuple(sorted({n for n, of in enumerate(owners, 1) if of == owner} | extra))
        stopped = draw(st.none() | st.integers(0, each * len(numbers) - 1))
        fault = draw(st.sampled_from([None] * 8 + ["foreign", "changed", "otherwise"]))
        parts.append(Part(numbers, stopped, fault, draw(st.integers(1, 2))))
    return draw(st.permutations(parts))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    """Real trials under the virtual clock."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "s.yaml").write_text(VIRTUAL.replace("size: 1kB", "size: 20kB").replace("requests: 1", "requests: 4"))
    _h123("run", "s.yaml", "--out", "c", folder=folder)
    return CampaignFolder.open(folder / "c")


@pytest.mark.heavy
@pytest.mark.parametrize("command", [["why"], ["show", "TRIAL"], ["export"]])
def test_commands_look_into_the_trials_of_a_joined_campaign(
    real: CampaignFolder, tmp_path: Path, command: list[str]
) -> None:
    joined(tmp_path / "c", *thirds(real, tmp_path))
    verb, *more = command
    trial = [plan_of(real).blocks[1][0].id] * bool(more)
    _h123(verb, "c", *trial, folder=tmp_path)


def _h123(*arguments: str, folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(project_root() / "src")}
    command = [sys.executable, "-m", "h123", *arguments]
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=1800)


@pytest.mark.heavy
def test_any_split_is_the_same_campaign_or_refused(real: CampaignFolder, tmp_path: Path) -> None:
    _check_splits(real, tmp_path, 60)


def test_a_few_splits_are_the_same_campaign_or_refused(virtual: CampaignFolder, tmp_path: Path) -> None:
    analyse(virtual)
    _check_splits(virtual, tmp_path, 8)


def _check_splits(whole: CampaignFolder, tmp_path: Path, examples: int) -> None:
    expected, counter = verdicts(whole, tmp_path / "whole" / "c"), itertools.count()

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(splits(whole.blocks, EACH))
    def check(parts: list[Part]) -> None:
        assume(parts)
        folder = tmp_path / str(next(counter))
        _check_split(whole, parts, folder, expected)
        shutil.rmtree(folder)

    check()


def _check_split(whole: CampaignFolder, parts: list[Part], folder: Path, expected: bytes) -> None:
    out, have, changed = folder / "c", set[int](), set[int]()
    for number, part in enumerate(parts):
        shard = _made(whole, part, folder / f"s{number}")
        done = set(_finished(whole, part))
        clash = (changed & done) if part.fault is None else (have & done if part.fault == "otherwise" else set())
        before = content(out)
        refused = (part.fault == "foreign" and have) or (part.fault == "changed" and part.stopped != 0) or clash
        if refused:
            with pytest.raises(UserError):
                joined(out, *[shard] * part.copies)
            assert content(out) == before
        elif part.fault == "foreign":
            continue
        elif have or out.exists() or shard.sealed():
            result = joined(out, *[shard] * part.copies)
            new = done - have
            assert set(result.added) == new
            have |= done
            changed |= new if part.fault == "otherwise" else set()
            assert set(result.missing) == set(range(1, whole.blocks + 1)) - have
    if len(have) == whole.blocks and not changed:
        assert analysed(out) == expected


def _finished(whole: CampaignFolder, part: Part) -> list[int]:
    """The blocks of which the shard has all trials: those of the journal's beginning."""
    ran = [event for event in whole.events() if event["event"] == "trial" and event["block"] in part.blocks]
    kept = [event["block"] for event in ran[: part.stopped]]
    return [number for number in part.blocks if kept.count(number) == EACH]


def _made(whole: CampaignFolder, part: Part, out: Path) -> CampaignFolder:
    other: dict[str, Any] = {"seed": whole.seed + 1} if part.fault == "foreign" else {}
    if part.fault == "otherwise":
        names = [trial.id for block in plan_of(whole).blocks for trial in block]
        return cut(whole, Shard.of(part.blocks), out, trials=part.stopped, changed=names, place="elsewhere")
    shard = cut(whole, Shard.of(part.blocks), out, trials=part.stopped, **other)
    if part.fault == "changed" and (attempts := shard.sealed()):
        (attempts[0] / "client.json").write_text("{}")
    return shard
