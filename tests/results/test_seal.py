"""What is sealed is still what was measured, or the folder says which trial is not."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from documents import changed_campaign, changed_events
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.measures import load_attempts
from h123.report.text.sections import trust
from h123.store import CampaignFolder, seal
from synthetic import Scenario, make_campaign


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("campaign") / "c", Scenario(blocks=1)).path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """A campaign of twelve trials of one's own."""
    return Path(shutil.copytree(whole, tmp_path / "c"))


def first(path: Path) -> Path:
    return CampaignFolder.open(path).sealed()[0]


def test_every_flip_of_a_bit_in_any_file_of_a_trial_is_seen(path: Path) -> None:
    folder = CampaignFolder.open(path)
    event = next(e for e in folder.events() if e["event"] == "trial")
    place, chance = folder.attempt(event), random.Random(13)
    files = sorted(file for file in place.rglob("*") if file.is_file())
    assert {file.name for file in files} >= {"samples.parquet", "report.json", "trial.json", "client.json", seal.NAME}
    assert seal.damage(place, event) is None
    for _ in range(200):
        file = chance.choice(files)
        kept, changed = file.read_bytes(), bytearray(file.read_bytes())
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        file.write_bytes(changed)
        assert file.name in str(seal.damage(place, event))
        file.write_bytes(kept)
    assert seal.damage(place, event) is None


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (shutil.rmtree, "its folder is gone"),
        (lambda place: (place / "samples.parquet").unlink(), "samples.parquet is gone"),
        (lambda place: (place / "seal.json").unlink(), "seal.json is not the one in the journal"),
        (lambda place: (place / "report.json").write_text("{"), "report.json has changed since the trial ended"),
        (lambda place: (place / "samples.parquet").write_bytes(b""), "samples.parquet has changed"),
    ],
)
def test_a_trial_whose_files_changed_is_left_out_and_named(
    path: Path, harm: Callable[[Path], object], said: str
) -> None:
    lost = first(path)
    harm(lost)
    folder = CampaignFolder.open(path)
    assert [found.partition(": ")[0] for found in folder.damaged_trials().values()] == [lost.name]
    assert said in folder.damaged_trials()[lost.name.partition("~")[0]]
    names = {attempt.name for attempt in load_attempts(folder)}
    assert (len(names), lost.name in names) == (11, False)


def test_the_answer_says_what_it_lacks(path: Path) -> None:
    lost = first(path)
    shutil.rmtree(lost)
    verdicts = analyse(CampaignFolder.open(path))
    assert verdicts["trials"] == {"planned": 12, "valid": 11, "invalid": 0, "missing": 1}
    audit = next(row for row in verdicts["audit_summary"] if row["audit"] == "files-changed")
    assert (audit["checked"], audit["failed"]) == (12, 1)
    assert any(f"{lost.name}: its folder is gone" in line for line in trust(verdicts))


def test_a_file_that_was_not_there_is_not_read(path: Path) -> None:
    place = first(path)
    facts = (place / "client.json").read_bytes()
    (place / "client.json").unlink()
    seal.make(place)
    (place / "client.json").write_bytes(facts)
    (place / "notes.txt").write_text("somebody's")
    found = seal.broken(place, str(seal.digest_of(place)))
    assert found == "client.json was not there when the trial ended"


def test_campaigns_of_earlier_versions_are_read_and_said_to_be_unsealed(path: Path) -> None:
    unseal(path)
    verdicts = analyse(CampaignFolder.open(path))
    assert (verdicts["trials"]["valid"], verdicts["unsealed"]) == (12, 12)
    audit = next(row for row in verdicts["audit_summary"] if row["audit"] == "files-changed")
    assert audit["checked"] == 0, "nothing to check is not passed"
    assert any("12 attempts without a seal" in line for line in trust(verdicts))


def unseal(path: Path) -> None:
    """Make a campaign what earlier versions wrote."""
    with changed_events(path) as events, changed_campaign(path):
        for event in events:
            event.pop("seal", None)
    for file in path.glob(f"trials/*/{seal.NAME}"):
        file.unlink()


@pytest.mark.parametrize("kept", [slice(-1), slice(-100), slice(0)])
def test_unsealed_samples_that_are_not_whole_are_named(path: Path, kept: slice) -> None:
    unseal(path)
    file = first(path) / "samples.parquet"
    file.write_bytes(file.read_bytes()[kept])
    folder = CampaignFolder.open(path)
    assert len(load_attempts(folder)) == 11
    assert list(folder.damaged_trials().values()) == [f"{first(path).name}: samples.parquet is not complete"]


@pytest.mark.parametrize("name", ["journal.jsonl", "campaign.json"])
def test_a_changed_digit_in_journal_or_campaign_is_refused(path: Path, name: str) -> None:
    file = path / name
    text = file.read_text()
    file.write_text(text.replace('"block": 1', '"block": 2', 1).replace('"margin": 0.05', '"margin": 0.25', 1))
    assert file.read_text() != text
    with pytest.raises(UserError, match="changed since"):
        analyse(CampaignFolder.open(path))


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("campaign.json", '"seed": 1,\n "blocks"', '"seed": "x",\n "blocks"', "seed"),
        ("campaign.json", '"factor": "protocol"', '"factor": "colour"', "'colour'"),
        ("campaign.json", '"blocks": 1,\n "filter"', '"blocks": [[],\n "filter"', "cannot be read"),
        ("journal.jsonl", '"valid": true', '"valid": 7', "valid"),
        ("journal.jsonl", '"users": 4', '"users": "4"', "users"),
        ("journal.jsonl", '"trial": "b01', '"trial": "../../b01', "trial"),
    ],
)
def test_a_campaign_that_is_no_campaign_is_refused_in_words(
    path: Path, name: str, old: str, new: str, said: str
) -> None:
    unseal(path)
    content = json.loads((path / "campaign.json").read_text())
    (path / "campaign.json").write_text(json.dumps(content, indent=1))
    text = (path / name).read_text()
    assert old in text
    (path / name).write_text(text.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        analyse(CampaignFolder.open(path))
    assert said in caught.value.message
