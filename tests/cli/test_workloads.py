"""A campaign whose workload is a mix, on real namespaces, with the embedded server and client."""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest

from cli.conftest import Tool
from h123.analysis.document import Verdicts

STUDY = """\
h123: study/1
name: tiny-mix
question: Does a mix arrive as it was asked for?
factors:
  protocol: [h1, h2, h3]
settings:
  kind: mix
  server: go
  client: go
  network: lan
  users: 2
  requests: 9
  warmup: 1
  headers:
    - {name: cookie, bytes: 1kB}
    - {name: x-request-id, bytes: 36, changes: request}
  mix:
    - {method: GET, size: 2kB, weight: 6}
    - {method: POST, file: order.json, weight: 3, think: 1ms}
    - {method: GET, path: /gone, status: 404}
compare:
  factor: protocol
  pairs: [h3/h2, h2/h1]
  twin: h2
blocks: 1
"""
SIZES = {0: (0, 2000), 1: (3000, 4)}
"""Body bytes up and down; an upload is answered by its size as text."""


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_mix_arrives_as_asked(h123: Tool) -> None:
    (h123.folder / "order.json").write_bytes(b"{}" * 1500)
    (h123.folder / "tiny-mix.yaml").write_text(STUDY)
    done = h123("run", "tiny-mix.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    out = h123.folder / "out"
    for folder in (out / "trials").iterdir():
        rows = pq.read_table(folder / "samples.parquet").to_pylist()
        warm = [row for row in rows if row["phase"] != "cold"]
        assert Counter(row["resource"] for row in warm) == {0: 12, 1: 6, 2: 2}
        assert {row["resource"] for row in rows if row["phase"] == "cold"} == {0}
        assert {row["group"] for row in rows} == {None}
        assert {(row["status"], row["error"]) for row in rows if row["resource"] != 2} == {(200, "")}
        assert {(row["status"], row["error"]) for row in rows if row["resource"] == 2} == {(404, "")}
        for resource, sizes in SIZES.items():
            found = {(row["bytes_up"], row["bytes_down"]) for row in rows if row["resource"] == resource}
            assert found == {sizes}
    verdicts: Verdicts = json.loads((out / "verdicts.json").read_text())
    held = {(audit["audit"], audit["passed"]) for audit in verdicts["audits"] if audit["trial"]}
    for name in ("size-wrong", "status-wrong", "requests-miscounted", "requests-failed", "times-disordered"):
        assert (name, True) in held
        assert (name, False) not in held
    labels = {comparison["workload"] for comparison in verdicts["comparisons"]}
    assert labels == {"60 % GET 2 kB, 30 % POST 3 kB, 10 % GET /gone"}
    exported = h123("export", "out", "--format", "csv")
    assert exported.returncode == 0, exported.stderr
    assert "group,resource" in (h123.folder / exported.stdout.split()[0]).open().readline()
