"""Documents of a campaign with values that h123 does not write: refused as they are opened, with file and key."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from h123.analysis import analyse
from h123.base.errors import UserError
from h123.measures import export, load_attempts
from h123.packets.capture import PACKET, read_packets, write_packets
from h123.packets.tcp_account import read_tcp_account
from h123.store import CampaignFolder, connect
from results.test_seal import first, unseal
from synthetic import NETWORKS, Scenario, make_campaign

READERS: list[Callable[[CampaignFolder], object]] = [
    analyse,
    load_attempts,
    connect,
    lambda folder: export(folder, "csv", folder.path / "export"),
    lambda folder: export(folder, "scorecard", folder.path / "export"),
]
RAW = {"half": '"\\ud800"', "deep": "[" * 100_000, "NaN": "NaN", "huge": "9" * 5000}
MARK = "the forged value stands here"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = make_campaign(tmp_path / "c", Scenario(blocks=1, networks={"medium": NETWORKS["medium"]})).path
    unseal(path)
    return path


def _forge(content: Any, place: str, value: object) -> None:
    *above, last = place.split(".")
    for key in above:
        content = content[key]
    if value == "gone":
        del content[last]
    else:
        content[last] = value


def _refused(path: Path, *said: str) -> None:
    for read in READERS:
        with pytest.raises(UserError) as refusal:
            read(CampaignFolder.open(path))
        assert all(words in refusal.value.message for words in said), refusal.value.message


@pytest.mark.parametrize("value", [True, 1, [], "x", None, "gone"])
@pytest.mark.parametrize("place", ["study.factors", "study.compare", "networks", "machine", "subjects", "filter"])
def test_a_campaign_with_something_else_in_place_of_keys(path: Path, place: str, value: object) -> None:
    content = json.loads((path / "campaign.json").read_text())
    _forge(content, place, value)
    (path / "campaign.json").write_text(json.dumps(content))
    _refused(path, "campaign.json", place.split(".")[-1])


@pytest.mark.parametrize("value", [1.5, None, True, [], "1", *RAW])
@pytest.mark.parametrize(
    "place",
    [
        "study.factors.protocol.h3.protocol",
        "study.name",
        "study.compare.margin",
        "study.settings.users",
        "networks.medium.up.delay_ns",
        "seed",
    ],
)
def test_a_campaign_with_another_kind_of_value(path: Path, place: str, value: object) -> None:
    if (place, value) in [("study.name", "1"), ("networks.medium.up.delay_ns", None)]:
        pytest.skip("what it may be")
    raw = RAW.get(value) if isinstance(value, str) else None
    content = json.loads((path / "campaign.json").read_text())
    _forge(content, place, MARK if raw else value)
    text = json.dumps(content)
    (path / "campaign.json").write_text(text.replace(f'"{MARK}"', raw) if raw else text)
    _refused(path, "campaign.json", "line 1, column" if raw else place.split(".")[-1])


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("position", None),
        ("position", "1"),
        ("parameters.protocol", None),
        ("parameters.users", None),
        ("parameters.users", "4"),
        ("parameters.network", "nowhere"),
        ("parameters", []),
        ("cell", None),
        ("cell.protocol", 3),
        ("reasons", "x"),
        ("time", "yesterday"),
        ("time", None),
        ("seal", 1),
        ("disturbance", True),
        ("attempt", 10**30),
    ],
)
def test_a_journal_with_another_value(path: Path, place: str, value: object) -> None:
    lines = [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]
    number = next(at for at, line in enumerate(lines) if line["event"] == "trial")
    _forge(lines[number], place, value)
    (path / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    _refused(path, f"journal.jsonl, line {number + 1}", *place.split(".")[-1:] if value != "nowhere" else [value])


@pytest.mark.parametrize("event", ["look", "finished", "resume", "import"])
def test_events_of_every_kind_have_their_shape(path: Path, event: str) -> None:
    wrong = {"blocks": "x", "valid": [], "trials": None, "files": {}}
    with (path / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps({"event": event, "time": "2026-01-01T00:00:00+00:00", **wrong}) + "\n")
    _refused(path, "journal.jsonl, line", f"not an event about a {event}")


def test_a_trial_stands_in_the_journal_once(path: Path) -> None:
    lines = (path / "journal.jsonl").read_text().splitlines()
    again = next(line for line in lines if '"cell"' in line)
    (path / "journal.jsonl").write_text("\n".join([*lines, again, ""]))
    _refused(path, f"journal.jsonl, line {len(lines) + 1}", "it occurs twice")


@pytest.mark.parametrize(
    ("column", "made", "said"),
    [
        ("end_ns", pa.array(["x"]), "end_ns is of type text"),
        ("start_ns", pa.array([None], pa.int64()), "start_ns is empty"),
        ("status", pa.array([2.5]), "status is of type float64"),
        ("phase", pa.array([7]), "phase"),
        ("error", pa.array([None], pa.string()), "error is empty"),
        ("error", pa.array([["x"]]), "error is of type list"),
        ("protocol", pa.array([b"\xed\xa0\x80"], pa.binary()), "protocol is of type binary"),
        ("phase", pa.array([{"a": 1}]), "phase is of type structure"),
        ("bytes_down", pa.array([2**63 - 1]), "9223372036854775807"),
        ("user", pa.array([[1]]), "user is of type list"),
    ],
)
def test_samples_of_another_shape_are_refused_by_their_column(
    path: Path, column: str, made: pa.Array, said: str
) -> None:
    file = first(path) / "samples.parquet"
    table = pq.read_table(file)
    forged = pa.concat_arrays([made] * table.num_rows)
    pq.write_table(table.set_column(table.column_names.index(column), column, forged), file)
    folder = CampaignFolder.open(path)
    if (lost := folder.damaged_trials()) and "does not have the columns of samples" in "".join(lost.values()):
        return  # its end alone shows it: the trial is left out, and named
    with pytest.raises(UserError) as refusal:
        load_attempts(folder)
    assert "samples.parquet" in refusal.value.message
    assert said in refusal.value.message


@pytest.mark.parametrize("made", [pa.nulls(3, pa.int64()), pa.array(["x"] * 3), pa.array([2**62] * 3), None])
def test_packets_of_another_shape_are_refused(tmp_path: Path, made: pa.Array | None) -> None:
    write_packets(np.zeros(3, PACKET), tmp_path / "packets-access.parquet")
    table = pq.read_table(tmp_path / "packets-access.parquet")
    place = table.column_names.index("at_ns")
    forged = table.remove_column(place) if made is None else table.set_column(place, "at_ns", made)
    pq.write_table(forged, tmp_path / "packets-access.parquet")
    with pytest.raises(UserError, match=r"packets-access\.parquet is not as h123 writes it: .*at_ns"):
        read_packets(tmp_path)


def test_an_account_of_tcp_of_another_shape_is_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    pq.write_table(pa.table({"at_ns": [1]}), file)
    (tmp_path / "tcp.parquet").write_bytes(file.getvalue())
    with pytest.raises(UserError, match=r"tcp\.parquet is not as h123 writes it: it has no column rtt_ns"):
        read_tcp_account(tmp_path)
