"""Cards of curl's scorecard.py: read as runs, and written of campaigns so that its printer shows them."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.base.errors import UserError
from h123.measures import export, load_attempts
from h123.store import CampaignFolder, import_samples
from h123.store.foreign.scorecard import read_card
from h123.study import find_study, load_schema, load_study
from synthetic import EVERY, Scenario, make_campaign

KIB, MIB = 1024, 1024**2


def _cell(value: float, shown: str = "x", **more: object) -> dict[str, object]:
    return {"val": value, "sval": shown, **more}


def _card(protocol: str, library: str, rate: float) -> dict[str, Any]:
    """As scorecard.py of curl 8.14 to 8.16 writes it with `-d -u -r --download=10kb --upload=1mb -r`."""
    stats = {"cpu": 97.5, "rss-max": 20 * MIB}
    return {
        "meta": {
            "curl_version": "8.14.1",
            "server": "Caddy/2.6.2 ",
            "samples": 1,
            "date": "2026-01-01T00:00:00+00:00",
            "protocol": protocol,
            "implementation": library,
            "implementation_version": "1.0",
            "request_parallels": [1, 6],
        },
        "downloads": {
            "meta": {"title": "Downloads", "count": 50, "max-parallel": 50},
            "cols": ["size", "single", "serial(50)", "parallel(50x50)"],
            "rows": [
                [_cell(10 * KIB, "10KB"), _cell(rate), _cell(2 * rate, stats=stats), _cell(-1, "--", errors=["exit=1"])]
            ],
        },
        "uploads": {
            "meta": {"title": "Uploads", "count": 50, "max-parallel": 50},
            "cols": ["size", "serial(50)"],
            "rows": [[_cell(MIB, "1MB"), _cell(3 * rate)]],
        },
        "requests": {
            "meta": {"title": "Requests", "count": 5000},
            "cols": ["size", "total", "1 max", "6 max"],
            "rows": [[_cell(10 * KIB, "10KB"), _cell(5000, "5000"), _cell(rate / 1000), _cell(rate / 500)]],
        },
    }


def _write(path: Path, card: object) -> Path:
    path.write_text(json.dumps(card, indent=2))
    return path


def test_each_figure_of_a_card_is_one_run(tmp_path: Path) -> None:
    runs = {
        run.columns["load"]: run.columns for run in read_card(_write(tmp_path / "a.json", _card("h3", "quiche", 1e6)))
    }
    assert set(runs) == {"single-10KiB", "serial-10KiB", "upload-serial-1MiB", "requests-1", "requests-6"}
    assert float(runs["serial-10KiB"]["seconds"]) == pytest.approx(50 * 10 * KIB / 2e6)
    assert (runs["serial-10KiB"]["bytes_down"], runs["serial-10KiB"]["bytes_up"]) == (str(500 * KIB), "0")
    assert float(runs["upload-serial-1MiB"]["seconds"]) == pytest.approx(50 * MIB / 3e6)
    assert runs["upload-serial-1MiB"]["bytes_up"] == str(50 * MIB)
    assert float(runs["requests-6"]["seconds"]) == pytest.approx(5000 / 2000)


def test_cards_in_blocks_are_judged(tmp_path: Path) -> None:
    files = []
    for block in range(1, 9):
        for protocol, library, rate in (("h3", "ngtcp2", 2e7), ("h3", "nghttp3", 1e7), ("http/1.1", "native", 4e7)):
            name = f"{protocol.replace('/', '')}-{library}-block{block}.json"
            files.append(_write(tmp_path / name, _card(protocol, library, rate * (1 + block / 1000))))
    verdicts = analyse(import_samples(files, load_schema("scorecard"), tmp_path / "out"))
    assert verdicts["blocks"]["complete"] == 8 or verdicts["trials"]["valid"] == len(files) * 5
    found = {(row["a"], row["b"]): row for row in verdicts["comparisons"] if row["cell"].get("load") == "serial-10KiB"}
    assert found["openssl", "ngtcp2"]["ratio"] == pytest.approx(0.5, rel=0.001)
    assert found["ngtcp2", "h1"]["ratio"] == pytest.approx(0.5, rel=0.001)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda card: card["meta"].update({"limit-rate": "10m"}), "--limit-rate 10m"),
        (lambda card: card.pop("meta"), "not what scorecard.py writes"),
        (lambda card: card["downloads"].pop("rows"), "not what scorecard.py writes"),
        (lambda card: card["downloads"]["rows"][0].pop(), "not what scorecard.py writes"),
        (
            lambda card: card["meta"].update({"implementation": "msh3"}),
            "downloads, single, 10KB: 'msh3' is not a level",
        ),
        (lambda card: card["requests"]["cols"].__setitem__(3, "7 max"), "requests, 7 max, 10KB: 'requests-7'"),
    ],
)
def test_what_is_no_card_is_said_and_leaves_nothing(tmp_path: Path, change: Any, said: str) -> None:
    card = _card("h3", "ngtcp2", 1e6)
    change(card)
    with pytest.raises(UserError) as caught:
        import_samples([_write(tmp_path / "a.json", card)], load_schema("scorecard"), tmp_path / "out")
    assert said in caught.value.message
    assert not (tmp_path / "out").exists()


def _campaign(folder: Path) -> CampaignFolder:
    loads = ["serial-10KiB", "parallel-10KiB", "parallel-1MiB", "requests-1", "requests-6", "upload-serial-1MiB"]
    only = {"curl": ["ngtcp2", "openssl", "h1"], "server": ["caddy"], "load": loads}
    make_campaign(folder, Scenario(study=load_study(find_study("scorecard")).scaled(0.1), blocks=2, only=only))
    return CampaignFolder.open(folder)


def test_a_campaign_is_a_card_for_each_client_and_server(tmp_path: Path) -> None:
    campaign = _campaign(tmp_path / "c")
    files = export(campaign, "scorecard", tmp_path / "cards")
    assert [path.name for path in files] == ["h1-caddy-lan.json", "ngtcp2-caddy-lan.json", "openssl-caddy-lan.json"]
    card = json.loads(files[1].read_text())
    assert (card["meta"]["protocol"], card["meta"]["samples"]) == ("h3", 2)
    assert json.loads(files[0].read_text())["meta"]["protocol"] == "http/1.1"

    def goodput(load: str) -> float:
        mine = {"curl": "ngtcp2", "server": "caddy", "network": "lan", "load": load}
        values = [a.metrics["goodput"] for a in load_attempts(campaign) if a.cell == mine and not a.twin]
        return statistics.mean(value or 0 for value in values) / 8

    small, large = card["downloads"]["rows"]
    serial, parallel = card["downloads"]["cols"].index("serial(5)"), card["downloads"]["cols"].index("parallel(50x50)")
    assert small[serial]["val"] == pytest.approx(goodput("serial-10KiB"))
    assert (large[serial]["val"], large[serial]["sval"]) == (-1, "--")  # what was not measured
    assert large[parallel]["val"] == pytest.approx(goodput("parallel-1MiB"))
    assert card["uploads"]["rows"][0][1]["val"] == pytest.approx(goodput("upload-serial-1MiB"))
    assert card["requests"]["cols"] == ["size", "total", "1 max", "6 max"]
    assert card["requests"]["rows"][0][3]["val"] == pytest.approx(goodput("requests-6") / (10 * KIB))


def test_its_cards_are_read_again(tmp_path: Path) -> None:
    files = export(_campaign(tmp_path / "c"), "scorecard", tmp_path / "cards")
    again = import_samples(files, load_schema("scorecard"), tmp_path / "again")
    assert {a.cell["curl"] for a in load_attempts(again)} == {"ngtcp2", "openssl", "h1"}
    rate = json.loads(files[2].read_text())["downloads"]["rows"][1][-1]["val"]
    (found,) = [a for a in load_attempts(again) if a.cell == {"curl": "openssl", "load": "parallel-1MiB"}]
    assert found.metrics["goodput"] == pytest.approx(8 * rate, rel=1e-6)


def test_a_campaign_with_nothing_for_a_card_is_refused(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "c", Scenario(blocks=1, missing=EVERY))
    with pytest.raises(UserError, match="no valid trial of this campaign fits a scorecard"):
        export(campaign, "scorecard", tmp_path / "cards")
    assert not (tmp_path / "cards").exists()
