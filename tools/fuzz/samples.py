"""Fuzzes samples: a client's CSV file through to its metrics, and the Parquet file of a folder that may come from an
attacker."""

from pathlib import Path

from campaign_files import campaign, sample_files
from reader import Reader

from h123.documents.trial_files import TrialFile
from h123.measures import EndedTrial, disturbance, trial_metrics
from h123.measures.timeline import timeline
from h123.store import ingest
from h123.store.columns import COLUMNS
from h123.store.rows import Rows

_ROWS = (
    "cold,0,1000000,41000000,41000000,81000000,91000000,200,0,100000,h2,0,0,",
    "warm,0,91000000,,91000000,131000000,191000000,200,0,100000,h2,0,1,",
    "warmup,1,91000000,,,,191000000,200,0,100000,h2,,,",
    "warm,1,91000000,,91000000,,3091000000,0,0,0,,0,1,timeout",
    'warm,1,91000000,,91000000,,3091000000,0,0,0,,0,1,"other: it said ""no"", twice"',
)


def _read_csv(case: bytes, folder: Path) -> None:
    (folder / "samples.csv").write_bytes(case)
    if not ingest(folder, {"protocol": "h2", "method": "GET", "size": 100_000}):
        attempt = campaign()[1][0]
        trial_metrics(EndedTrial(folder, attempt.report, attempt.parameters))
        machine = attempt.report.machine.model_copy(update={"lab_ns": 1})
        report = attempt.report.model_copy(update={"machine": machine})
        disturbance(report, TrialFile(h123="trial/1", links=[attempt.link]), folder / "samples.parquet")
        timeline(Rows.read(folder / "samples.parquet"), timed=True)


def _read_parquet(case: bytes, folder: Path) -> None:
    (folder / "samples.parquet").write_bytes(case)
    attempt = campaign()[1][0]
    trial_metrics(EndedTrial(folder, attempt.report, attempt.parameters))
    for timed in (True, False):
        timeline(Rows.read(folder / "samples.parquet"), timed=timed)


def _csv() -> list[bytes]:
    header = ",".join(COLUMNS)
    return ["\n".join([header, *rows, ""]).encode() for rows in (_ROWS, _ROWS[:2], _ROWS * 3)]


SAMPLES = Reader(
    "samples", _read_csv, _csv, words=("cold", "warm", "warmup", "h1", "h3", "reset", "refused", "tls", "wrong-bytes")
)
PARQUET = Reader("parquet", _read_parquet, lambda: sample_files("samples.parquet"))
