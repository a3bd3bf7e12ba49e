"""Foreign samples become a campaign that the analysis takes for no more than it is."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from h123.analysis import analyse
from h123.base.errors import UserError
from h123.base.files.lock import sole_user
from h123.campaign import extend_campaign
from h123.measures import export, load_attempts
from h123.report import write_report
from h123.report.page.provenance import provenance
from h123.store import CampaignFolder, connect, import_samples
from h123.study import load_schema

RECORDED = Path(__file__).parent / "foreign"
"""Logs of h2load 1.52.0 (Debian), 40 requests of 20 kB each over loopback to the subject `go`."""

PAPER = """h123: import/1
name: paper
question: Is HTTP/3 faster than HTTP/2?
factors:
  protocol: [h3, h2]
settings: {method: GET, size: 2MB, network: poor, users: 1}
compare:
  factor: protocol
  pairs: [h3/h2]
samples:
  latency: {column: Latency, unit: ms}
  ttfb: {column: TTFB, unit: ms}
  status: {value: 200}
  bytes_down: {column: Bytes}
  levels:
    protocol: {column: Protocol, values: {HTTP/3: h3, HTTP/2: h2}}
"""
ROWS = ["HTTP/3,1800,60,2000000", "HTTP/3,1900,61,2000000", "HTTP/2,2000,62,2000000", "HTTP/2,2100,63,2000000"]


HEADER = "Protocol,Latency,TTFB,Bytes"


def _csv(path: Path, rows: list[str], header: str) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def _paper(folder: Path, rows: list[str] = ROWS, schema: str = PAPER, header: str = HEADER) -> CampaignFolder:
    (folder / "paper.yaml").write_text(schema)
    file = _csv(folder / "paper.csv", rows, header)
    return import_samples([file], load_schema(str(folder / "paper.yaml")), folder / "out")


def _audit(verdicts: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in verdicts["audit_summary"] if row["audit"] == name)


def test_samples_without_structure_get_figures_and_no_verdict(tmp_path: Path) -> None:
    verdicts = analyse(_paper(tmp_path))
    first = verdicts["comparisons"][0]
    assert (first["metric"], first["workload"]) == ("latency", "GET 2 MB")
    assert first["ratio"] == pytest.approx(1.85 / 2.05)
    assert first["verdict"] == "inconclusive"
    costs = " ".join(verdicts["origin"]["costs"])
    assert "no blocks" in costs
    assert "6 blocks would be needed" in costs
    assert "it is not known when requests began" in costs
    assert all(row["metrics"]["goodput"] is None for row in verdicts["values"])


def test_audits_that_lack_something_have_nothing_to_check(tmp_path: Path) -> None:
    verdicts = analyse(_paper(tmp_path))
    absent = ["client-saturated", "machine-saturated", "loss-mismatch", "packets-unaccounted", "udp-buffer-dropped"]
    absent += ["congestion-wrong", "tls-wrong", "protocol-wrong", "requests-miscounted", "order-unrecorded"]
    absent += ["order-confounded", "goodput-above-link", "handshake-below-round-trips"]
    absent += ["users-exceeded", "loop-still", "times-beyond-run", "arms-apart", "tls-unlike", "tls-impossible"]
    assert {name: _audit(verdicts, name)["checked"] for name in absent} == dict.fromkeys(absent, 0)
    assert {_audit(verdicts, name)["result"] for name in absent} == {"nothing to check"}
    done = ["size-wrong", "request-above-link", "first-byte-below-round-trip"]
    assert {name: _audit(verdicts, name)["failed"] for name in done} == dict.fromkeys(done, 0)
    assert all(_audit(verdicts, name)["checked"] == 2 for name in done)


def test_a_request_quicker_than_its_link_is_found(tmp_path: Path) -> None:
    # 2 MB in 340 ms is 47 Mbit/s, over a link of 10.
    verdicts = analyse(_paper(tmp_path, [*ROWS, "HTTP/3,340,60,2000000"]))
    assert _audit(verdicts, "request-above-link")["failed"] == 1
    finding = next(f for f in verdicts["audits"] if f["audit"] == "request-above-link" and not f["passed"])
    assert finding["value"] == pytest.approx(16e6 / (10e6 * 0.34))


def test_logs_of_h2load_are_read_as_they_are(tmp_path: Path) -> None:
    files = sorted(RECORDED.glob("*.log"))
    folder = import_samples(files, load_schema("h2load"), tmp_path / "out")
    verdicts = analyse(folder)
    assert verdicts["blocks"] == {"planned": 2, "complete": 2}
    assert verdicts["trials"] == {"planned": 4, "valid": 4, "invalid": 0, "missing": 0}
    table = connect(folder).execute(
        "SELECT min(start_ns), count(*) FROM samples JOIN attempts t USING (trial, attempt) "
        "WHERE t.block = 1 AND t.cell_protocol = 'h1'"
    )
    written = [line.split("\t") for line in (RECORDED / "h1-1.log").read_text().splitlines()]
    assert table.fetchone() == (min(int(start) for start, *_ in written) * 1000, len(written))
    # h1 was measured before h2 in the file's own times: the order is known.
    assert _audit(verdicts, "order-confounded")["checked"] == 1
    assert [v["position"] for v in verdicts["values"]] == [1, 2, 1, 2]


def test_report_and_export_of_imported_samples(tmp_path: Path) -> None:
    folder = _paper(tmp_path)
    analyse(folder)
    page = write_report(folder).read_text()
    assert "not measured by h123" in page
    assert "Not recorded: the samples were imported" in page
    assert folder.imported is not None
    assert folder.imported["files"][0]["sha256"] in page
    samples, _ = export(folder, "csv", tmp_path / "export")
    assert len(samples.read_text().splitlines()) == 1 + len(ROWS)
    with pytest.raises(UserError, match="nothing to continue"):
        extend_campaign(folder.path, blocks=None, report=print)


def test_declared_blocks_pair_the_trials(tmp_path: Path) -> None:
    schema = PAPER.replace("levels:", "block: {column: TTFB}\n  levels:")
    values = [(v, 1000 + 10 * b + (0 if v == 2 else 100) + i, b) for b in range(60, 66) for v in (2, 3) for i in (0, 7)]
    rows = [f"HTTP/{v},{latency},{b},2000000" for v, latency, b in values]
    verdicts = analyse(_paper(tmp_path, rows, schema))
    first = verdicts["comparisons"][0]
    assert (first["blocks"], first["verdict"], first["p"]) == (6, "slower", 2 / 2**6)
    assert verdicts["blocks"] == {"planned": 6, "complete": 6}
    assert not any("no blocks" in cost for cost in verdicts["origin"]["costs"])


def test_oha_in_its_format(tmp_path: Path) -> None:
    header = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"
    for name, delay in (("h2", 0.05), ("h3", 0.04)):
        rows = [f"{i * 0.1},0,{0.02 if i == 0 else 0},{delay},{delay + 0.001},20000,200" for i in range(10)]
        _csv(tmp_path / f"{name}.csv", rows, header)
    files = [tmp_path / "h2.csv", tmp_path / "h3.csv"]
    verdicts = analyse(import_samples(files, load_schema("oha"), tmp_path / "out"))
    ratios = {c["metric"]: c["ratio"] for c in verdicts["comparisons"]}
    assert ratios["latency"] == pytest.approx(0.041 / 0.051)
    assert ratios["ttfb"] == pytest.approx(0.8)
    expected = {"h2": 8 * 200_000 / 0.951, "h3": 8 * 200_000 / 0.941}
    for row in verdicts["values"]:
        assert row["metrics"]["goodput"] == pytest.approx(expected[row["cell"]["protocol"]])


def _k6(proto: str, second: int, error: str = "") -> str:
    tags = {"proto": proto, "status": "0" if error else "200", "error": error}
    time = f"2024-05-09T14:34:{second:02}.239531499+02:00"
    point = {"type": "Point", "data": {"time": time, "value": 250.5, "tags": tags}, "metric": "http_req_duration"}
    return json.dumps(point)


def test_k6_in_its_json(tmp_path: Path) -> None:
    other = '{"type":"Point","data":{"time":"2024-05-09T14:34:44Z","value":5,"tags":null},"metric":"vus"}'
    lines = [other, _k6("HTTP/1.1", 10), _k6("HTTP/2.0", 20), _k6("HTTP/2.0", 21, "dial: i/o timeout")]
    (tmp_path / "run.json").write_text("\n".join(lines) + "\n")
    folder = import_samples([tmp_path / "run.json"], load_schema("k6"), tmp_path / "out")
    rows = (
        connect(folder).execute("SELECT protocol, start_ns, end_ns, status, error FROM samples ORDER BY 2").fetchall()
    )
    end = 1715258050 * 10**9 + 239531499  # `date -d 2024-05-09T14:34:10+02:00 +%s`
    assert rows[0] == ("h1", end - 250_500_000, end, 200, "")
    assert rows[2][3:] == (0, "other: dial: i/o timeout")
    assert _audit(analyse(folder), "requests-failed")["failed"] == 1


@pytest.mark.parametrize(
    ("schema", "name", "text", "said"),
    [
        ("h2load", "h2.log", "start,status,duration\n1,200,5\n", "a comma separates the columns, but the schema"),
        ("h2load", "h2.log", "1;200;5\n", "a semicolon separates the columns"),
        ("oha", "h2.csv", "request-start;response-delay\n1;2\n", "reads files with a comma there"),
        ("k6", "h2.json", "start,status\n", "not JSON"),
        ("h2load", "h2.log", "1\t200\n", "2 fields instead of 3"),
    ],
)
def test_a_file_of_another_tool_is_said_to_need_its_schema(
    tmp_path: Path, schema: str, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        import_samples([tmp_path / name], load_schema(schema), tmp_path / "out")
    assert "docs/import.md lists them" in (caught.value.remedy or "")
    assert "comma" not in (caught.value.remedy or ""), "no remedy of another format"


def test_k6_of_another_millennium_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(_k6("HTTP/1.1", 10).replace("2024-", "3024-") + "\n")
    with pytest.raises(UserError, match=r"run\.json:1: end is '3024-05-09T.*which is not a date for the unit rfc3339"):
        import_samples([tmp_path / "run.json"], load_schema("k6"), tmp_path / "out")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("HTTP/3,fast,60,2000000", "latency is 'fast', not a number"),
        ("HTTP/3,-1,60,2000000", "latency is negative"),
        ("HTTP/3,1900,61", "3 fields instead of 4"),
        ("HTTP/4,1900,61,2000000", "'HTTP/4' is not a level of factor 'protocol'"),
        ("HTTP/3,1900,61,2MB", "bytes_down is '2MB', not a whole number"),
    ],
)
def test_a_bad_row_names_file_line_and_reason_and_leaves_nothing(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        _paper(tmp_path, [*ROWS, row])
    assert f"paper.csv:6: {said}" in caught.value.message
    assert {path.name for path in tmp_path.iterdir()} == {"paper.csv", "paper.yaml"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{column: Latency, unit: ms}", "{column: Latency, unit: hours}", "'hours' is not allowed"),
        ("{column: Latency, unit: ms}", "{column: Latency}", "`latency` needs a `unit`"),
        ("  ttfb:", "  tfb:", "did you mean ttfb?"),
        ("{value: 200}", "{value: 200, column: x}", "write either `column` or `value`"),
        ("    protocol: {column: Protocol", "    protcol: {column: Protocol", "factor 'protocol'"),
        ("size: 2MB", "size: many", "'many' is not valid"),
        ("network: poor", "network: mars", "'mars'"),
        ("samples:", "samples:\n  reads: curl", "there is no schema 'curl'"),
        ("factors:", "blocks: 3\nfactors:", "`blocks` does not belong in a schema"),
    ],
)
def test_a_broken_schema_names_file_and_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        _paper(tmp_path, schema=PAPER.replace(old, new, 1))
    assert said in caught.value.message
    assert caught.value.message.startswith(f"{tmp_path}/paper.yaml:")


SECURED = PAPER.replace(
    "  levels:", "  tls: {column: TLS, values: {TLSv1.3: 1.3}}\n  resumed: {column: Resumed}\n  levels:"
)


def _secured(folder: Path, *ends: str) -> CampaignFolder:
    rows = [f"{row},{end}" for row, end in zip(ROWS, ends, strict=True)]
    return _paper(folder, rows, SECURED, f"{HEADER},TLS,Resumed")


def test_tls_is_kept_as_far_as_it_is_told(tmp_path: Path) -> None:
    folder = _secured(tmp_path, "1.3,yes", "TLSv1.3,0", ",", ",")
    told = {
        attempt.cell["protocol"]: [kind.model_dump(exclude_unset=True) for kind in attempt.tls]
        for attempt in load_attempts(folder)
    }
    assert told == {
        "h3": [
            {"version": "1.3", "resumed": True, "requests": 1},
            {"version": "1.3", "resumed": False, "requests": 1},
        ],
        "h2": [],
    }
    verdicts = analyse(folder)
    assert "TLS" not in " ".join(verdicts["origin"]["costs"])
    assert _audit(verdicts, "tls-unlike")["result"] == "nothing to check"
    assert ("TLS", "HTTP/3: 1.3; HTTP/2: not known") in provenance(folder, load_attempts(folder))


@pytest.mark.parametrize(
    ("end", "said"), [("1.4,", "tls is '1.4', not one of 1.0, 1.1"), (",maybe", "resumed is 'maybe'")]
)
def test_tls_that_is_none_names_the_row(tmp_path: Path, end: str, said: str) -> None:
    with pytest.raises(UserError, match=f"paper.csv:5: {re.escape(said)}"):
        _secured(tmp_path, ",", ",", ",", end)


def test_one_side_only_and_occupied_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to compare"):
        _paper(tmp_path, ROWS[:2])
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="already exists"):
        _paper(tmp_path)


def test_two_imports_into_one_folder_do_not_mix(tmp_path: Path) -> None:
    there = tmp_path / "out.partial"
    (there / "out/trials").mkdir(parents=True)
    with sole_user(there, "the first"), pytest.raises(UserError, match="another h123 is running an import into"):
        _paper(tmp_path)
    assert (there / "out/trials").exists()
    assert len(_paper(tmp_path).events()) > 0, "what a killed import left is in nobody's way"
    assert not there.exists()


def test_a_file_whose_name_fits_no_pattern(tmp_path: Path) -> None:
    file = shutil.copy(RECORDED / "h1-1.log", tmp_path / "spdy.log")
    with pytest.raises(UserError, match="'spdy' is not a level"):
        import_samples([Path(file)], load_schema("h2load"), tmp_path / "out")
