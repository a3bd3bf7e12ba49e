"""Rows of other tools as they write them: requests that failed, redirects, packed files, runs without requests."""

import gzip
import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.analysis import analyse
from h123.base.errors import UserError
from h123.store import CampaignFolder, connect, import_samples
from h123.store.foreign.values import is_absent, status, time_ns
from h123.study import load_schema
from results.importing import CURL, FOREIGN, JMETER, MS, NAMES, brought, costs, curl, judged, rows_of, schema


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("@,ERR,ERR,ERR,000", "other: no response"),
        ("@,,,,", "other: no response"),
        ("@,,,0,timeout", "timeout"),
        ("@,0,30.0,0,-1", "other: no response"),
        ("@,,timed out,,200", "timeout"),
        ("@,,nan,,200", "other: latency is 'nan'"),
        ("@,,,,200", "other: no latency"),
        ("@,?,?,?,curl: (28) Operation timed out", "other: curl: (28) Operation timed out"),
    ],
)
def test_rows_of_failed_requests_are_failures(tmp_path: Path, row: str, error: str) -> None:
    folder = brought(tmp_path, curl({("h3", 4): row}), schema(tmp_path, CURL))
    assert [one for one in rows_of(folder, "error") if one[0]] == [(error,)]
    verdicts = analyse(folder)
    assert verdicts["trials"] == {"planned": 24, "valid": 24, "invalid": 0, "missing": 0}
    assert judged(verdicts) == {"h3/h2": "not judged", "h2/h1": "faster"}
    assert "lacks" not in costs(verdicts)


@pytest.mark.parametrize("lost", [{("h3", 4): ""}, {("h3", 2): "", ("h3", 7): ""}])
def test_deleted_rows_are_noticed_and_count_as_failed(tmp_path: Path, lost: dict[tuple[str, int], str]) -> None:
    verdicts = analyse(brought(tmp_path, curl(lost), schema(tmp_path, CURL)))
    assert judged(verdicts) == {"h3/h2": "not judged", "h2/h1": "faster"}
    assert f"h3 lacks {len(lost)} request" in costs(verdicts)
    why = next(c["withheld"] for c in verdicts["comparisons"] if c["a"] == "h3")
    assert "of h3's requests failed or are missing" in json.dumps(why)


def test_a_block_that_all_arms_lack_is_none(tmp_path: Path) -> None:
    lost = {(level, 4): "" for level in NAMES}
    verdicts = analyse(brought(tmp_path, curl(lost), schema(tmp_path, CURL)))
    assert judged(verdicts) == {"h3/h2": "faster", "h2/h1": "faster"}
    assert "lacks" not in costs(verdicts)


def test_a_loop_of_single_transfers_is_in_the_order_of_its_rows(tmp_path: Path) -> None:
    verdicts = analyse(brought(tmp_path, curl({}), schema(tmp_path, CURL)))
    audits = {row["audit"]: row["result"] for row in verdicts["audit_summary"]}
    assert (audits["request-as-trial"], audits["order-confounded"]) == ("nothing to check", "passed")
    assert judged(verdicts) == {"h3/h2": "faster", "h2/h1": "faster"}
    shutil.rmtree(tmp_path / "out")
    fixed = analyse(brought(tmp_path, curl({}, shuffled=False), schema(tmp_path, CURL)))
    assert next(row["failed"] for row in fixed["audit_summary"] if row["audit"] == "order-confounded")


def jmeter(failed: str, drop: Sequence[str] = ()) -> str:
    rows, at, dice = [], 1_790_000_000_000, random.Random(7)
    for block in range(1, 7):
        for level in ("h1", "h2") if block % 2 else ("h2", "h1"):
            for n in range(20):
                took = int(MS[level] * dice.uniform(0.95, 1.05))
                said = failed if n == 7 else "200,OK"
                success = "false" if n == 7 else "true"
                if n != 7 or level not in drop:
                    rows.append(f"{at},{took},{level},{said},block {block},{success},,1430,{took - 5},0")
                at += took + 1
    header = (
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage,bytes,Latency,Connect"
    )
    return "\n".join([header, *rows, ""])


TIMED_OUT = "Non HTTP response code: java.net.SocketTimeoutException,Read timed out"


@pytest.mark.parametrize(
    ("failed", "error"),
    [
        (TIMED_OUT, "other: Non HTTP response code: java.net.SocketTimeoutException"),
        ("200,the assertion failed", "other: not what the tool expected (status 200)"),
        (",", "other: no response"),
    ],
)
def test_jmeter_s_failures(tmp_path: Path, failed: str, error: str) -> None:
    folder = brought(tmp_path, jmeter(failed), schema(tmp_path, JMETER, "h1, h2", "h2/h1"))
    assert [one[0] for one in rows_of(folder, "error") if one[0]] == [error] * 12
    verdicts = analyse(folder)
    assert verdicts["trials"]["valid"] == 12
    assert judged(verdicts) == {"h2/h1": "faster"}, "both sides fail alike"


def test_jmeter_s_failures_deleted_from_one_arm(tmp_path: Path) -> None:
    """5 % of h2's requests: what is left is quicker, and whole again on the other side."""
    verdicts = analyse(
        brought(
            tmp_path, jmeter("200,OK", ["h2"]).replace("false", "true"), schema(tmp_path, JMETER, "h1, h2", "h2/h1")
        )
    )
    assert judged(verdicts) == {"h2/h1": "not judged"}
    assert "h2 lacks 6 requests that others have, in blocks 1, 2, 3, 4, ..." in costs(verdicts)


def test_runs_of_a_set_time_differ_and_are_judged(tmp_path: Path) -> None:
    rows, at, dice = ["t,ms,p,b"], 1_790_000_000_000, random.Random(3)
    for block in range(1, 7):
        for level in ("h1", "h2") if block % 2 else ("h2", "h1"):
            until = at + 20_000
            while at < until:
                took = int(MS[level] * dice.uniform(0.8, 1.2))
                rows.append(f"{at},{took},{level},{block}")
                at += took
    samples = "  start: {column: t, unit: unix-ms}\n  latency: {column: ms, unit: ms}\n  status: {value: 200}\n"
    samples += "  levels: {protocol: {column: p}}\n  block: {column: b}\n"
    verdicts = analyse(brought(tmp_path, "\n".join(rows), schema(tmp_path, samples, "h1, h2", "h2/h1")))
    assert judged(verdicts) == {"h2/h1": "faster"}
    assert "numbers of requests differ between the levels of protocol" in costs(verdicts)


def point(proto: str, second: int, number: int, code: str, value: float, **tags: str) -> str:
    given = {"expected_response": "true", "method": "GET", "proto": proto, "status": code, "url": "https://a.test/"}
    at = f"2026-07-13T17:00:{second:02}.{number:06}+02:00"
    data = {"time": at, "value": value, "tags": given | tags}
    return json.dumps({"metric": "http_req_duration", "type": "Point", "data": data})


def k6(folder: Path, codes: Sequence[str], **tags: str) -> list[Path]:
    """Six blocks of both protocols, in turn first; each page is a request for each status."""
    files, dice = [], random.Random(7)
    for block in range(1, 7):
        for place, level in enumerate(["h1", "h2"] if block % 2 else ["h2", "h1"]):
            proto = {"h1": "HTTP/1.1", "h2": "HTTP/2.0"}[level]
            points = [
                point(proto, block * 2 + place, 10 * n + k, code, MS[level] * dice.uniform(0.95, 1.05), **tags)
                for n in range(20)
                for k, code in enumerate(codes)
            ]
            files.append(folder / f"{level}-{block}.json")
            files[-1].write_text("\n".join(points))
    return files


def test_redirects_are_left_out_of_k6_s_points(tmp_path: Path) -> None:
    files = k6(tmp_path, ["302", "200"])
    verdicts = analyse(import_samples(files, load_schema("k6"), tmp_path / "out"))
    assert judged(verdicts)["h2/h1"] == "faster"
    assert "240 responses were redirects and left out; `h123 import --redirects failed`" in costs(verdicts)
    failed = analyse(import_samples(files, load_schema("k6", "failed"), tmp_path / "counted"))
    assert "count as failed requests; `h123 import --redirects left-out` leaves them out" in costs(failed)


def test_answers_that_are_nothing_but_redirects(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="it contains no requests") as refused:
        import_samples(k6(tmp_path, ["301"]), load_schema("k6"), tmp_path / "out")
    assert refused.value.remedy == "all 20 responses are redirects: measure the address that they point to"


def test_what_k6_did_not_expect_is_a_failure(tmp_path: Path) -> None:
    folder = import_samples(k6(tmp_path, ["200"], expected_response="false"), load_schema("k6"), tmp_path / "out")
    assert set(rows_of(folder, "error")) == {("other: not what the tool expected (status 200)",)}


def test_a_failed_request_of_k6_has_the_protocol_of_its_file(tmp_path: Path) -> None:
    files = k6(tmp_path, ["200"])
    gone = point("", 59, 0, "0", 30_000, error="dial: i/o timeout")
    files[0].write_text(f"{files[0].read_text()}\n{gone}")
    folder = import_samples(files, load_schema("k6"), tmp_path / "out")
    assert [row for row in rows_of(folder, "protocol, error") if row[1]] == [(None, "other: dial: i/o timeout")]
    files[0].write_text(f"{files[1].read_text()}\n{files[0].read_text()}")
    with pytest.raises(UserError, match="a failed request does not give its protocol, and the file contains h1 and h2"):
        import_samples(files, load_schema("k6"), tmp_path / "again")


K6_CSV = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,status"


@pytest.mark.parametrize("form", ["{s}", "{s}000", "{s}000000", "{s}000000000", "{iso}Z", "{iso}.123456789Z"])
def test_k6_s_csv_in_any_of_its_times(tmp_path: Path, form: str) -> None:
    """Whole seconds give the order of the runs, and no time of a request."""
    for number, level in enumerate(["h1", "h2"]):
        at = form.format(s=1_790_000_000 + 60 * number, iso=f"2026-09-21T13:4{number}:00")
        proto = {"h1": "HTTP/1.1", "h2": "HTTP/2.0"}[level]
        row = f"http_req_duration,{at},{MS[level]},,,,true,,GET,u,{proto},200"
        (tmp_path / f"{level}-1.csv").write_text("\n".join([K6_CSV, row, row, ""]))
    files = [tmp_path / "h2-1.csv", tmp_path / "h1-1.csv"]
    folder = import_samples(files, load_schema("k6-csv"), tmp_path / "out")
    origin = folder.imported
    assert origin is not None
    assert (origin["ordered"], origin["timed"]) == (True, form not in ("{s}", "{iso}Z"))
    found = connect(folder).execute("SELECT cell_protocol, position FROM attempts ORDER BY 2").fetchall()
    assert found == [("h1", 1), ("h2", 2)]
    assert {row[0] for row in rows_of(folder, "end_ns - start_ns")} == {MS["h1"] * 10**6, MS["h2"] * 10**6}


def test_packed_files(tmp_path: Path) -> None:
    packed = tmp_path / "h1-1.log.gz"
    packed.write_bytes(gzip.compress((FOREIGN / "h1-1.log").read_bytes()))
    files = [packed, Path(shutil.copy(FOREIGN / "h2-1.log", tmp_path))]
    assert len(rows_of(import_samples(files, load_schema("h2load"), tmp_path / "out"), "status")) == 80
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(UserError, match="not a complete gzip file"):
        import_samples(files, load_schema("h2load"), tmp_path / "again")
    packed.rename(tmp_path / "h1-1.log")
    with pytest.raises(UserError, match=r"a file packed with gzip must be named \.gz"):
        import_samples([tmp_path / "h1-1.log"], load_schema("h2load"), tmp_path / "again")


def distributions(folder: Path, tool: str, source: str, ending: str = "") -> CampaignFolder:
    """Two blocks of one file, by other names."""
    text = (FOREIGN / source).read_text()
    files = [folder / f"{level}-{block}{ending}" for block in (1, 2) for level in ("h1", "h2")]
    for number, file in enumerate(files):
        file.write_text(
            text.replace("04:00:27.473", f"04:0{number}:27.473").replace("10:00:00.1", f"10:0{number}:00.1")
        )
    return import_samples(files, load_schema(tool), folder / "out")


def test_autocannon(tmp_path: Path) -> None:
    """As version 8 wrote it, of 200 requests over loopback: half of them took 1 ms at most, 90 of 100 76 ms."""
    folder = distributions(tmp_path, "autocannon", "autocannon.json", ".json")
    assert folder.imported is not None
    assert (folder.imported["requests"], folder.imported["ordered"], folder.imported["timed"]) == (800, True, False)
    found = connect(folder).execute(
        "SELECT quantile_disc(end_ns - start_ns, [0.5, 0.75, 0.9, 1])::VARCHAR FROM samples WHERE trial LIKE 'b01-t01%'"
    )
    assert found.fetchall() == [("[1000000, 21000000, 76000000, 244000000]",)]


def test_locust(tmp_path: Path) -> None:
    """As version 2 wrote it: 39 of 80 requests succeeded. Its sum of all is not counted again."""
    folder = distributions(tmp_path, "locust", "locust_stats.csv", "_stats.csv")
    rows = connect(folder).execute(
        "SELECT status, count(*) FROM samples WHERE trial LIKE 'b01-t01%' GROUP BY 1 ORDER BY 1"
    )
    assert rows.fetchall() == [(0, 41), (200, 39)]


def test_nighthawk(tmp_path: Path) -> None:
    folder = distributions(tmp_path, "nighthawk", "nighthawk.json", ".json")
    rows = connect(folder).execute(
        "SELECT error, count(*), max(end_ns - start_ns) FROM samples WHERE trial LIKE 'b01-t01%' GROUP BY 1 ORDER BY 1"
    )
    assert rows.fetchall() == [("", 10, 10**7), ("other: 5xx", 1, None), ("other: no response", 1, None)]
    assert folder.imported is not None
    assert folder.imported["ordered"]


def test_fortio(tmp_path: Path) -> None:
    line = '{{"latency":{ms:f},"timestamp":{at},"thread":0,"iter":{n},"ok":{ok},"details":"{code}"}}\n'
    for start, level in enumerate(["h1", "h2"]):
        at = (1_790_000_000 + start) * 10**9
        lines = [line.format(ms=0.002, at=at + n, n=n, ok="true", code=200) for n in range(3)]
        (tmp_path / f"{level}-1.log").write_text("".join([*lines, line.format(ms=0, at=at, n=4, ok="false", code=-1)]))
    folder = import_samples(sorted(tmp_path.glob("*.log")), load_schema("fortio"), tmp_path / "out")
    assert rows_of(folder, "status, error")[:3] == [(0, "other: no response")] * 2 + [(200, "")]


@pytest.mark.parametrize(
    ("tool", "name", "text", "said"),
    [
        ("autocannon", "h1-1.json", "{}", "not what autocannon writes: `latency` is missing"),
        ("autocannon", "h1-1.json", "[1]", "expected an object"),
        ("autocannon", "h1-1.json", '{"latency": {"max": "x"}}', "not what autocannon writes"),
        (
            "nighthawk",
            "h1-1.json",
            '{"results": [{"name": "a", "statistics": []}]}',
            "no statistic benchmark_http_client",
        ),
        ("nighthawk", "h1-1.json", '{"results": []}', "not what nighthawk writes"),
        ("locust", "h1-1.csv", "a,b\n1,2\n", "not what locust writes: `Name` is missing"),
        ("locust", "h1-1.csv", "Type,Name,Request Count,Failure Count,50%\nGET,/,9999999999,0,1\n", "over 5000000"),
    ],
)
def test_what_a_tool_did_not_write_is_refused(tmp_path: Path, tool: str, name: str, text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        brought(tmp_path, text, tool, name)
    assert said in refused.value.message
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("old", "new", "said", "remedy"),
    [
        ("http2,1", "spdy,1", "'spdy' is not a level", "`values: {'spdy': h1}`"),
        ("0.085", "soon", "ttfb is 'soon', not a number", "`values: {'soon': ''}`"),
        (",1000000,", ",1 MB,", "bytes_down is '1 MB', not a whole number", "failed request"),
        ("time_total", "total", "there is no column 'time_total'", "correct the name in the schema"),
    ],
)
def test_refusals_name_the_remedy(tmp_path: Path, old: str, new: str, said: str, remedy: str) -> None:
    with pytest.raises(UserError) as refused:
        brought(tmp_path, curl({}).replace(old, new, 1), schema(tmp_path, CURL))
    assert said in refused.value.message
    assert remedy in (refused.value.remedy or "")


def test_words_in_place_of_every_status_are_no_failures(tmp_path: Path) -> None:
    """The column is another one, or means success."""
    with pytest.raises(UserError, match="no request has an HTTP status in http_code; the first has 'OK'") as refused:
        brought(tmp_path, curl({}).replace(",200\n", ",OK\n"), schema(tmp_path, CURL))
    assert "values: {OK: 200}" in (refused.value.remedy or "")


@given(st.text(max_size=30))
def test_any_text_is_a_status_or_none(text: str) -> None:
    found = status(text)
    assert found is None or found >= 0
    assert not (found and is_absent(text))


@given(st.integers(1_000_000_000, 2_300_000_000), st.integers(0, 10**9 - 1))
def test_dates_in_any_unit(seconds: int, more: int) -> None:
    whole = seconds * 10**9 + more
    assert time_ns("start", str(whole), "unix") == whole
    assert time_ns("start", str(seconds), "unix") == seconds * 10**9
    assert time_ns("start", str(whole // 10**6), "unix") == whole // 10**6 * 10**6
    assert abs(time_ns("start", f"{seconds}.{more:09}", "unix") - whole) <= 1


def test_rows_that_count_as_trials_name_their_remedy(tmp_path: Path) -> None:
    """Without `rows: runs` each row of a loop of curl is taken for a run, and nothing is judged."""
    text = CURL.replace("  rows: runs\n", "  run: {column: rep}\n")
    assert text != CURL
    why = {c["withheld"]["why"] for c in analyse(brought(tmp_path, curl({}), schema(tmp_path, text)))["comparisons"]}
    assert len(why) == 1
    assert "`request-as-trial`: add `rows: runs` to the schema" in why.pop()


@pytest.mark.parametrize("status", ["201", "202", "204", "206"])
@pytest.mark.parametrize("tool", ["k6", "h2load", "curl"])
def test_any_2xx_is_a_success(tmp_path: Path, tool: str, status: str) -> None:
    if tool == "k6":
        folder = import_samples(k6(tmp_path, [status]), load_schema("k6"), tmp_path / "out")
    elif tool == "curl":
        text = curl({}).replace(",200\n", f",{status}\n")
        folder = brought(tmp_path, text, schema(tmp_path, CURL))
    else:
        files = [tmp_path / f"{level}-{block}.log" for level in ("h1", "h2") for block in (1, 2)]
        for file in files:
            file.write_text(
                (Path(__file__).parent / "foreign" / file.name).read_text().replace("\t200\t", f"\t{status}\t")
            )
        folder = import_samples(files, load_schema("h2load"), tmp_path / "out")
    assert set(rows_of(folder, "status, error")) == {(int(status), "")}
