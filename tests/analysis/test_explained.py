"""What packets told is kept by seal and code, and makes no difference but of time."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from h123.analysis import analyse
from h123.analysis.explanations.means import Means, StoredMeans
from h123.causes import CAUSES, ExplainedTrial
from h123.store import CampaignFolder, Sample
from h123.study.workload import OK
from synthetic import Scenario, make_campaign

SEAL, OTHER = "a" * 64, "b" * 64


@pytest.fixture(autouse=True)
def cache(cache: Path) -> Path:
    return cache / "explained"


def _means(number: float) -> dict[str, Means]:
    return {"warm": Means(seconds=(number,) * len(CAUSES), sums_up=1 / 3, held=0.1)}


def _never() -> dict[str, Means]:
    raise AssertionError("explained again")


def _kept(seal: str = SEAL, number: float = 0.1) -> None:
    kept = StoredMeans("campaign")
    kept.means_of(seal, lambda: _means(number))
    kept.keep()


def test_what_was_explained_is_not_explained_again() -> None:
    _kept()
    assert StoredMeans("campaign").means_of(SEAL, _never) == _means(0.1)


def test_another_seal_is_not_served() -> None:
    _kept()
    kept = StoredMeans("campaign")
    assert kept.means_of(OTHER, lambda: _means(7.0)) == _means(7.0)
    kept.keep()
    again = StoredMeans("campaign")
    assert [again.means_of(seal, _never) for seal in (SEAL, OTHER)] == [_means(0.1), _means(7.0)]


def test_another_code_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    _kept()
    monkeypatch.setattr("h123.analysis.explanations.means.code", lambda: "0" * 64)
    assert StoredMeans("campaign").means_of(SEAL, lambda: _means(7.0)) == _means(7.0)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("0.1", "0.2", 1),
        lambda text: text[: len(text) // 2],
        lambda _: "",
        lambda text: text.replace("explained/1", "explained/9"),
        lambda text: re.sub(r'"digest":"\w+"', f'"digest":"{"0" * 64}"', text),
    ],
)
def test_what_is_damaged_is_refused_and_replaced(spoil: Callable[[str], str], cache: Path) -> None:
    _kept()
    (file,) = cache.glob("*.json")
    whole = file.read_text()
    file.write_text(spoil(whole))
    assert file.read_text() != whole
    assert StoredMeans("campaign").means_of(SEAL, lambda: _means(7.0)) == _means(7.0)
    _kept()
    assert file.read_text() == whole


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "file"))
    _kept()
    assert StoredMeans("campaign").means_of(SEAL, lambda: _means(7.0)) == _means(7.0)


def test_campaigns_that_were_kept_longest_ago_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("h123.analysis.explanations.means._MOST", 2)
    for campaign in ("first", "second", "third"):
        kept = StoredMeans(campaign)
        kept.means_of(SEAL, lambda: _means(0.1))
        kept.keep()
    assert len(list(cache.glob("*.json"))) == 2
    assert StoredMeans("third").means_of(SEAL, _never) == _means(0.1)


@pytest.fixture
def explained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The attempts of which packets were explained, in turn: made up, for each attempt its own."""
    asked = list[str]()

    def explain(folder: Path, statuses: Sequence[int]) -> ExplainedTrial:
        assert statuses == [OK]
        asked.append(folder.name)
        rows = [cast(Sample, {"phase": phase, "start_ns": 0, "end_ns": 10**8}) for phase in ("cold", "warm", "warm")]
        seconds = np.random.default_rng(sum(folder.name.encode())).random((len(rows), len(CAUSES)))
        return ExplainedTrial(rows, seconds, seconds[:, 0] / 3)

    monkeypatch.setattr("h123.analysis.explanations.causes.explain", explain)
    return asked


def _analysed(folder: Path) -> bytes:
    campaign = CampaignFolder.open(folder)
    assert analyse(campaign)["causes"]
    return campaign.verdicts.read_bytes()


def test_verdicts_are_the_same_bytes_with_and_without(tmp_path: Path, cache: Path, explained: list[str]) -> None:
    folder = make_campaign(tmp_path / "campaign", Scenario(blocks=6)).path
    first = _analysed(folder)
    count = len(explained)
    assert count == len(set(explained)) > 0
    assert _analysed(folder) == first
    assert len(explained) == count
    for file in cache.glob("*.json"):
        file.unlink()
    assert _analysed(folder) == first
    assert len(explained) == 2 * count


def test_an_attempt_that_was_sealed_anew_is_explained_again(
    tmp_path: Path, explained: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_campaign(tmp_path / "campaign", Scenario(blocks=6)).path
    _analysed(folder)
    changed = explained[0]
    explained.clear()
    events = CampaignFolder.events

    def resealed(self: CampaignFolder) -> list[Any]:
        return [
            {**event, "seal": OTHER}
            if event["event"] == "trial" and f"{event['trial']}~{event['attempt']}" == changed
            else event
            for event in events(self)
        ]

    monkeypatch.setattr(CampaignFolder, "events", resealed)
    monkeypatch.setattr(CampaignFolder, "damage", lambda *_: None)
    _analysed(folder)
    assert explained == [changed]
