"""What a trial shows of its server; its client moves after 50 ns."""

from pathlib import Path

import numpy as np

from h123.documents.lab_report import NO_REPORT
from h123.documents.trial_files import ClientFile, Link, Tls
from h123.measures import EndedTrial, server_counts
from h123.packets.frames import FRAME, write_frames
from h123.store.rows import Rows
from h123.study.networks.network import Move
from results.full_trial import LINK

ROWS = [
    ("user", "connection", "start_ns", "end_ns", "status", "error"),
    (0, 0, 0, 10, 200, ""),
    (0, 0, 40, 90, 0, "other: no"),
    (1, 1, 45, 60, 200, ""),
    (2, 2, 20, 30, 200, ""),
    (2, 3, 90, 95, 500, ""),
    (2, None, 93, 97, 0, "abandoned"),
]
COUNTS = {
    ("requests", "ok"): 3,
    **{("requests", outcome): 1 for outcome in ("wrong-status", "other", "abandoned")},
    ("connections",): 4,
    ("connections_active",): 2,
    ("connections_moved",): 3,
    ("connections_survived",): 1,
    ("early_data_offered",): 3,
    ("early_data_accepted",): 2,
    ("stream_resets", "client"): 2,
    ("stream_resets", "server"): 1,
    **{("packets", way): 900 for way in ("up", "down")},
    **{("packets_dropped", way): 36 for way in ("up", "down")},
}


def ended_trial(folder: Path) -> EndedTrial:
    """The client resets two streams, one of them twice, and the server one."""
    frames = np.zeros(5, FRAME)
    frames["kind"], frames["way"], frames["stream"] = [5, 5, 5, 5, 7], [0, 0, 0, 1, 1], [0, 0, 4, 4, 8]
    write_frames(frames, folder / "frames-access.parquet")
    report = NO_REPORT.model_copy(update={"links": [LINK.model_copy()]})
    trial = EndedTrial(folder, report, {"server": "go", "protocol": "h3", "sessions": "early"})
    vars(trial).update(
        rows=Rows.of([dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]),
        facts=ClientFile(h123="client/1", tls=[Tls(connections=2, early=True), Tls(connections=1)]),
        link=Link(moves=[Move(at_ns=50, new="port")]),
    )
    return trial


def test_counts_of_known_files(tmp_path: Path) -> None:
    assert server_counts(ended_trial(tmp_path)) == COUNTS


def test_what_files_do_not_show_is_not_counted(tmp_path: Path) -> None:
    trial = ended_trial(tmp_path)
    vars(trial).update(facts=None, link=Link())
    trial.report.links[0].directions, trial.report.links[0].frames_left_out = None, 1
    assert {name for name, *_ in server_counts(trial)} == {"requests", "connections", "connections_active"}
