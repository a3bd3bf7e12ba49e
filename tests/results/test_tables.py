"""Views, the figures of one scan against the same computed by hand, and the export."""

import csv
import json
import math
import resource
from pathlib import Path

import duckdb
import numpy as np
import pytest

from documents import changed_campaign, changed_events
from h123.base.errors import UserError
from h123.documents.lab_report import NO_REPORT
from h123.measures import export, load_attempts
from h123.measures.metrics import measure
from h123.measures.summary import Summary, summarise
from h123.store import CampaignFolder, connect
from h123.store.columns import COLUMNS, RETRIED_COLUMNS
from h123.store.rows import Rows
from h123.store.samples import ingest
from h123.study.workload import workload_of
from stored import stored_rows
from synthetic import EVERY, NETWORKS, Scenario, make_campaign

INVALID = "b01-t01-lan-h2-twin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CampaignFolder:
    scenario = Scenario(blocks=1, invalid=frozenset([INVALID]))
    return make_campaign(tmp_path_factory.mktemp("campaign") / "it's one", scenario)


def test_views_hold_all_attempts_and_analyse_the_last_valid(folder: CampaignFolder) -> None:
    connection = connect(folder)

    def one(query: str) -> int:
        row = connection.execute(query).fetchone()
        assert row
        return int(row[0])

    assert one("SELECT count(*) FROM attempts") == 13
    assert one("SELECT count(*) FROM analysed") == 12
    assert one(f"SELECT attempt FROM analysed WHERE trial = '{INVALID}'") == 2
    assert one(f"SELECT count(DISTINCT attempt) FROM samples WHERE trial = '{INVALID}'") == 2
    assert one("SELECT count(*) FROM samples JOIN analysed USING (trial, attempt) WHERE phase = 'warm'") == 12 * 20
    assert one("SELECT count(*) FROM attempts WHERE cell_network = 'poor' AND cell_protocol = 'h3'") == 1


def test_a_campaign_without_trials_has_empty_views(tmp_path: Path) -> None:
    empty = make_campaign(tmp_path / "none", Scenario(blocks=1, missing=EVERY))
    connection = connect(empty)
    assert connection.execute("SELECT * FROM samples").fetchall() == []
    columns = [name for name, *_ in connection.execute("DESCRIBE samples").fetchall()]
    assert columns == ["trial", "attempt", *RETRIED_COLUMNS, "succeeded"]
    assert load_attempts(empty) == []


def test_medians_are_those_of_the_raw_rows(folder: CampaignFolder) -> None:
    attempt = load_attempts(folder)[3]
    table = stored_rows(folder.trial(attempt.trial, attempt.attempt) / "samples.parquet")
    warm = [row for row in table if row["phase"] == "warm"]
    cold = [row for row in table if row["phase"] == "cold"]
    latency = [(row["end_ns"] - row["start_ns"]) * 1e-9 for row in warm]
    span = (max(row["end_ns"] for row in warm) - min(row["start_ns"] for row in warm)) * 1e-9
    found = attempt.metrics
    assert found["latency"] == pytest.approx(np.median(latency))
    assert found["ttfb"] == pytest.approx(np.median([(r["first_byte_ns"] - r["start_ns"]) * 1e-9 for r in warm]))
    assert found["goodput"] == pytest.approx(8 * sum(row["bytes_down"] for row in warm) / span)
    assert found["handshake"] == pytest.approx(np.median([(r["connected_ns"] - r["start_ns"]) * 1e-9 for r in cold]))
    assert found["cold_latency"] == pytest.approx(np.median([(r["end_ns"] - r["start_ns"]) * 1e-9 for r in cold]))
    used = {role.name: role.cpu.main_ns * 1e-9 for role in attempt.report.roles}
    assert found["cpu"] == pytest.approx((used["server"] + used["client"]) / len(table))
    assert found["latency_p95"] is None


def summary_of(folder: Path, rows: list[str]) -> Summary:
    """The figures of a samples file with these rows."""
    folder.mkdir(exist_ok=True)
    (folder / "samples.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    asked, file = {"protocol": "h2", "method": "GET", "size": 100}, folder / "samples.parquet"
    ingest(folder, asked)
    return summarise(Rows.read(file), workload_of(asked))


def measured(folder: Path, rows: list[str]) -> dict[str, float | None]:
    """The metrics of such a file, where no lab tells anything."""
    return measure(summary_of(folder, rows), NO_REPORT, None)


def warm(milliseconds: int, error: str = "", status: int = 200, first_byte: bool = True) -> str:
    end = milliseconds * 1_000_000
    return f"warm,0,0,,0,{end // 2 if first_byte else ''},{end},{status},0,100,h2,0,1,{error},,"


def test_failed_requests_are_slower_than_all_others(tmp_path: Path) -> None:
    ok = [warm(ms) for ms in (10, 20, 30)]
    assert measured(tmp_path / "1", [*ok, warm(1, "reset")])["latency"] == pytest.approx(0.025)
    assert measured(tmp_path / "2", [*ok, warm(1, "", 503)])["latency"] == pytest.approx(0.025)
    # As many failures as successes: the median lies between a number and infinity.
    assert measured(tmp_path / "3", [*ok, *[warm(1, "timeout")] * 3])["latency"] == math.inf
    assert measured(tmp_path / "4", [*ok, *[warm(1, "timeout")] * 2])["latency"] == pytest.approx(0.03)


def test_requests_once_all_connections_are_open(tmp_path: Path) -> None:
    def row(phase: str, start: int, end: int, reused: str) -> str:
        return f"{phase},0,{start},,{start},{end},{end},200,0,100,h2,0,{reused},,,"

    rows = [row("cold", 0, 10, "0"), row("warm", 10, 20, "1"), row("warm", 10, 40, "0"), row("warm", 20, 50, "1")]
    found = summary_of(tmp_path / "1", [*rows, row("warm", 40, 60, "1"), row("warm", 60, 70, "1")])
    # The second connection was open at 40: two requests began after that, and one was under way.
    assert (found.start_ns, found.open_ns, found.once_open) == (0, 40, 2.5)
    silent = summary_of(tmp_path / "2", [row("cold", 0, 10, ""), row("warm", 10, 20, "")])
    assert (silent.open_ns, silent.once_open) == (10, 1)
    assert summary_of(tmp_path / "3", [row("warm", 10, 20, "")]).once_open is None


def test_a_client_that_does_not_see_first_bytes_has_no_ttfb(tmp_path: Path) -> None:
    found = measured(tmp_path / "1", [warm(10, first_byte=False), warm(20, "reset", first_byte=False)])
    assert found["ttfb"] is None
    assert measured(tmp_path / "2", [warm(10), warm(30, first_byte=False)])["ttfb"] is None


@pytest.mark.parametrize(("count", "p95", "p99"), [(59, False, False), (60, True, False), (300, True, True)])
def test_high_quantiles_need_many_requests(tmp_path: Path, count: int, p95: bool, p99: bool) -> None:
    found = measured(tmp_path / "many", [warm(10 + i) for i in range(count)])
    assert ((found["latency_p95"] is not None), (found["latency_p99"] is not None)) == (p95, p99)


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_exports_hold_all_samples_with_their_cells(folder: CampaignFolder, tmp_path: Path, form: str) -> None:
    samples, attempts = export(folder, form, tmp_path / "out's")
    assert (samples.name, attempts.name) == (f"samples.{form}", f"attempts.{form}")
    tables = [_read(path, form) for path in (samples, attempts)]
    # 20 warm ones a trial, and cold ones: one a connection, four with HTTP/1.1.
    assert len(tables[0]) == 13 * 21 + 3 * 3
    assert {str(row["cell_network"]) for row in tables[0]} == {"lan", "medium", "poor"}
    assert len(tables[1]) == 13
    known = [row for row in tables[1] if row["latency"] not in (None, "")]
    assert len(known) == 12
    assert sorted(path.name for path in samples.parent.iterdir()) == [attempts.name, samples.name]


def _read(path: Path, form: str) -> list[dict[str, object]]:
    if form == "parquet":
        return [*stored_rows(path)]
    if form == "json":
        return list(json.loads(path.read_text()))
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_export_complains_of_formats_and_places(folder: CampaignFolder, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="csv, parquet, json"):
        export(folder, "xlsx", tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="results need a folder"):
        export(folder, "csv", tmp_path / "file")


def test_a_file_that_cannot_grow_is_a_clear_error_and_leaves_nothing(folder: CampaignFolder, tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(UserError, match=r"failed.*too large"):
            export(folder, "csv", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_what_a_factor_is_called_is_never_run(tmp_path: Path, form: str) -> None:
    """Nor what its levels are called, nor the folder: a campaign may be a stranger's."""
    stolen = tmp_path / "stolen"
    factor = f"x\" FROM samples AS s JOIN attempts AS t USING (trial, attempt)) TO '{stolen}'; --"
    levels = {"it's": {"users": 2}, "'; DROP TABLE attempts; --": {"users": 4}}
    made = make_campaign(tmp_path / "it's; --", Scenario(blocks=1, networks={"lan": NETWORKS["lan"]}))
    folder = renamed(made, factor, levels)
    samples, trials = export(folder, form, tmp_path / "out\"'s")
    assert not stolen.exists()
    for row in [*_read(samples, form), *_read(trials, form)]:
        assert row[f"cell_{factor}"] in levels


def renamed(folder: CampaignFolder, factor: str, levels: dict[str, dict[str, int]]) -> CampaignFolder:
    """The campaign with two further factors, one of them `x`, as somebody else's program may have written it."""
    with changed_campaign(folder.path) as content:
        content["study"]["factors"] |= {"x": {"one": {"requests": 5}}, factor: levels}
        del content["study"]["settings"]["users"], content["study"]["settings"]["requests"]
    with changed_events(folder.path) as events:
        for number, event in enumerate(events):
            if event["event"] == "trial":
                event["cell"] |= {"x": "one", factor: list(levels)[number % 2]}
    return CampaignFolder.open(folder.path)


def test_a_connection_reaches_nothing_but_the_trials(folder: CampaignFolder, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    connection = connect(folder)
    for query in (
        f"SELECT * FROM read_csv('{tmp_path}/secret.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/written.csv'",
        f"ATTACH '{tmp_path}/new.db'",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(query)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


def test_a_campaign_behind_a_symbolic_link_is_read(folder: CampaignFolder, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder.path)
    assert len(load_attempts(CampaignFolder.open(tmp_path / "link"))) == 12
