"""What a lost packet costs is told beside the trial of the same block that lost none; nothing is less than anything."""

import csv
from pathlib import Path

import numpy as np
import pytest

from h123.analysis import analyse
from h123.measures import load_attempts
from h123.packets.capture import DELIVERED, LOST, PACKET, write_packets
from h123.store.columns import COLUMNS
from h123.study import PlannedTrial, Study
from synthetic import NETWORKS, Scenario, answer_family, make_campaign

MS = 1_000_000
USERS = 5


def _study() -> Study:
    factors = {
        "protocol": {name: {"protocol": name} for name in ("h2", "h3")},
        "losses": {name: {"losses": name} for name in ("none", "one", "own")},
    }
    settings = {"server": "go", "client": "go", "network": "poor", "clock": "virtual", "cold": False}
    families = [
        answer_family("lost_packet_others"),
        {"name": "latency", "correction": "bh", "metrics": ["latency"]},
    ]
    return Study.from_resolved(
        {
            "h123": "study/1",
            "name": "lossy",
            "question": "Whom does it cost?",
            "factors": factors,
            "settings": {**settings, "users": USERS, "requests": 1, "size": 1000},
            "compare": {"factor": "protocol", "pairs": ["h3/h2"], "twin": "h2", "families": families},
            "blocks": 6,
        },
        {"poor": NETWORKS["poor"]},
    )


def _spoil(trial: PlannedTrial, partial: Path) -> None:
    """Each request takes 50 ms. A loss costs its own 30 ms, and over h2 each other one 2 ms for every block."""
    lossy = trial.parameters.losses == "one"
    with (partial / "samples.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS)
        rows.writeheader()
        for user in range(USERS):
            waits = 30 if user == 0 else 2 * trial.block * (trial.parameters.protocol == "h2")
            end = 60 * MS + (waits * MS if lossy else 0)
            told = {"phase": "warm", "user": user, "start_ns": 10 * MS, "end_ns": end, "status": 200, "bytes_up": 0}
            rows.writerow({**told, "bytes_down": 1000, "protocol": trial.parameters.protocol, "resource": 0})
    packets = np.zeros(2, PACKET)
    packets["bytes"], packets["fate"] = 1400, [DELIVERED, LOST if lossy else DELIVERED]
    write_packets(packets, partial / "packets-access.parquet")


def test_what_a_loss_costs_others_is_compared_where_one_was_lost(tmp_path: Path) -> None:
    scenario = Scenario(study=_study(), networks={"poor": NETWORKS["poor"]}, spoil=_spoil)
    folder = make_campaign(tmp_path / "lossy", scenario)
    for attempt in load_attempts(folder):
        costs = attempt.metrics["lost_packet"], attempt.metrics["lost_packet_others"]
        if attempt.cell["losses"] != "one":
            assert costs == (None, None)
        elif attempt.cell["protocol"] == "h3":
            assert costs == (pytest.approx(0.03), 0)
        else:
            others = 0.002 * attempt.block * (USERS - 1)
            assert costs == (pytest.approx(0.03 + others), pytest.approx(others))
    found = analyse(folder)["comparisons"]
    others = [one for one in found if one["metric"] == "lost_packet_others" and not one["twin"]]
    assert [one["cell"] for one in others] == [{"losses": "one"}]
    assert len([one for one in found if one["metric"] == "latency" and not one["twin"]]) == 3
    (one,) = others
    assert (one["blocks"], one["ratio"], one["verdict"]) == (6, None, "faster")
    assert one["p"] == pytest.approx(2 / 2**6)
