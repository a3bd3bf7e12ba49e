"""The gaps and packet trains of bench/packet_trains.py, from made packets."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from flow.packets import down, made, up
from h123.base.paths import project_root
from h123.packets.capture import packets_file, write_packets


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(project_root() / "bench"), *sys.path])
    import packet_trains

    return packet_trains


def test_a_train_ends_at_a_gap_of_a_tenth_of_a_millisecond(tool: Any, tmp_path: Path) -> None:
    other = down(0.05, payload=1000) | {"destination": 50_001}
    rows = [down(at, payload=1000) for at in (0, 0.099, 0.199, 5)]
    write_packets(made([*rows, other, up(0.01, payload=50), down(0.02)]), packets_file(tmp_path))
    gaps, trains = tool.gaps_and_trains(tmp_path)
    assert list(gaps) == [99_000, 100_000, 4_801_000]
    assert list(trains) == [2, 2, 1, 1, 1]


def test_the_table_counts_packets_of_valid_trials(
    tool: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [
        {"event": "trial", "trial": name, "attempt": 1, "valid": name != "c", "cell": {"sender": "go"}}
        for name in "abc"
    ]
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    for name in "abc":
        trial = tmp_path / f"trials/{name}~1"
        trial.mkdir(parents=True)
        write_packets(made([down(at, payload=1000) for at in (0, 0, 3)]), packets_file(trial))
    assert tool.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| go | 2 | 6 | 1.500 | 3.000 | 3.000 | 33 % | 100 % | 100 % | 2 |"
    ]
