"""A campaign whose workload is a mix, on real namespaces, with the embedded server and client."""

import json
from collections import Counter
from typing import Any

import pytest

from cli.conftest import Tool
from stored import stored_rows

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


def check_audits(verdicts: dict[str, Any]) -> None:
    """All trials were audited, and nothing was found."""
    held = {(audit["audit"], audit["passed"]) for audit in verdicts["audits"] if audit["trial"]}
    for name in ("size-wrong", "status-wrong", "requests-miscounted", "requests-failed", "times-disordered"):
        assert (name, True) in held
        assert (name, False) not in held


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_mix_arrives_as_asked(h123: Tool) -> None:
    (h123.folder / "order.json").write_bytes(b"{}" * 1500)
    for folder in h123.run_study(STUDY).trials.iterdir():
        rows = stored_rows(folder / "samples.parquet")
        warm = [row for row in rows if row["phase"] != "cold"]
        assert Counter(row["resource"] for row in warm) == {0: 12, 1: 6, 2: 2}
        assert {row["resource"] for row in rows if row["phase"] == "cold"} == {0}
        assert {row["group"] for row in rows} == {None}
        assert {(row["status"], row["error"]) for row in rows if row["resource"] != 2} == {(200, "")}
        assert {(row["status"], row["error"]) for row in rows if row["resource"] == 2} == {(404, "")}
        for resource, sizes in SIZES.items():
            found = {(row["bytes_up"], row["bytes_down"]) for row in rows if row["resource"] == resource}
            assert found == {sizes}
    verdicts = h123.verdicts()
    check_audits(verdicts)
    labels = {comparison["workload"] for comparison in verdicts["comparisons"]}
    assert labels == {"60 % GET 2 kB, 30 % POST 3 kB, 10 % GET /gone"}
    exported = h123.succeed("export", "out", "--format", "csv")
    assert "group,resource" in (h123.folder / exported.stdout.split()[0]).open().readline()


SITE = """\
h123: site/1
name: tiny
title: a page
source: nobody's
resources:
  - {name: document, type: document, size: 2kB, run: 5ms}
  - {name: images, type: image, size: 30kB, by: document, count: 8}
  - {name: style, type: style, size: 10kB, by: document}
  - {name: font, type: font, size: 5kB, by: style}
"""
PAGES = """\
h123: study/1
name: tiny-page
question: Does a page arrive as its site says?
factors:
  protocol: [h1, h2, h3]
settings: {kind: page, site: tiny.yaml, server: go, client: go, network: lan, users: 2, requests: 3, warmup: 1}
compare:
  factor: protocol
  pairs: [h3/h2, h2/h1]
  twin: h2
  families:
    - {name: answer, correction: holm, metrics: [page_complete, page_first_byte, page_largest]}
blocks: 1
"""
RESOURCES = 11


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_page_arrives_as_its_site_says(h123: Tool) -> None:
    (h123.folder / "tiny.yaml").write_text(SITE)
    for folder in h123.run_study(PAGES).trials.iterdir():
        rows = stored_rows(folder / "samples.parquet")
        assert Counter(row["phase"] for row in rows) == {"warm": 6 * RESOURCES, "warmup": 2 * RESOURCES}
        visits = Counter((row["user"], row["group"]) for row in rows)
        assert visits == {(user, visit): RESOURCES for user in range(2) for visit in range(4)}
        opened = Counter((row["user"], row["group"]) for row in rows if not row["reused"])
        assert set(opened.values()) == {6 if rows[0]["protocol"] == "h1" else 1}
        assert {(row["status"], row["error"]) for row in rows} == {(200, "")}
    verdicts = h123.verdicts()
    check_audits(verdicts)
    for trial in verdicts["values"]:
        values = [trial["metrics"][name] for name in ("page_first_byte", "page_largest", "page_complete")]
        assert all(value is not None for value in values)
        assert values == sorted(value for value in values if value is not None)
    assert {comparison["workload"] for comparison in verdicts["comparisons"]} == {"page tiny, 11 requests, 257 kB"}


APART = SITE.replace("type: font,", "type: font, host: b,").replace("count: 8", "count: 8, host: c, cacheable: true")
PAUSE_NS = 200_000_000


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_hosts_have_connections_of_their_own_and_returning_visitors_ask_for_less(h123: Tool) -> None:
    """Each host has connections of its own; a returning visitor asks none of what has all been kept."""
    (h123.folder / "tiny.yaml").write_text(APART)
    text = PAGES.replace("protocol: [h1, h2, h3]", "cache: [empty, kept]").replace("factor: protocol", "factor: cache")
    text = text.replace("[h3/h2, h2/h1]", "[kept/empty]").replace("twin: h2", "twin: empty")
    text = text.replace("kind: page,", f"kind: page, protocol: h3, pause: {PAUSE_NS}ns,")
    trials = list(h123.run_study(text).trials.iterdir())
    assert len(trials) == 3
    for folder in trials:
        page = json.loads((folder / "workload.json").read_text())["page"]
        rows = stored_rows(folder / "samples.parquet")
        assert {(row["status"], row["error"]) for row in rows} == {(200, "")}
        hosts = {"b.h123.test", None} if "kept" in folder.name else {"b.h123.test", "c.h123.test", None}
        assert {one.get("host") for one in page} == hosts
        used = {(row["connection"], page[row["resource"]].get("host")) for row in rows}
        assert len(used) == len({connection for connection, _ in used}) == 8 * len(hosts)
        visits = {(row["user"], row["group"]): row["start_ns"] for row in rows if row["resource"] == 0}
        ended = {visit: max(r["end_ns"] for r in rows if (r["user"], r["group"]) == visit) for visit in visits}
        assert all(start - ended[user, n - 1] >= PAUSE_NS for (user, n), start in visits.items() if n)
    verdicts = h123.verdicts()
    held = {(audit["audit"], audit["passed"]) for audit in verdicts["audits"] if audit["trial"]}
    for name in ("size-wrong", "status-wrong", "requests-miscounted", "requests-failed", "loop-still"):
        assert (name, False) not in held


def test_a_site_is_shown_with_its_source(h123: Tool) -> None:
    every = h123.succeed("site", "show")
    assert {"small", "medium", "large", "home-desktop"} <= {line.split()[0] for line in every.stdout.splitlines()}
    one = h123("site", "show", "home-desktop")
    assert "Web Almanac 2024" in one.stdout
    assert "71 requests, 1.95 MB, 3 deep" in one.stdout
    (h123.folder / "tiny.yaml").write_text(SITE.replace("by: style", "by: font"))
    wrong = h123("site", "show", "tiny.yaml")
    assert wrong.returncode != 0
    assert "tiny.yaml:9: " in wrong.stderr
    assert "resources request each other" in wrong.stderr


def test_a_recorded_page_becomes_a_site(h123: Tool) -> None:
    request = {"method": "GET", "url": "https://www.example.org/", "headers": []}
    content = {"size": 1000, "mimeType": "text/html"}
    response = {"status": 200, "headers": [], "content": content, "redirectURL": "", "headersSize": -1, "bodySize": 900}
    entry = {"startedDateTime": "2026-05-01T10:00:00Z", "time": 40, "request": request, "response": response}
    other = {**request, "url": "https://cdn.example.org/a.js"}
    kept = {**response, "headers": [{"name": "Cache-Control", "value": "max-age=60"}]}
    entries = [entry, {**entry, "startedDateTime": "2026-05-01T10:00:01Z", "request": other, "response": kept}]
    log = {"version": "1.2", "creator": {"name": "Firefox", "version": "140"}, "entries": entries[:1]}
    (h123.folder / "page.har").write_text(json.dumps({"log": log}))
    done = h123.succeed("site", "import", "page.har", "--out", "mine.yaml")
    assert "mine.yaml: 1 request, 900 B, 0 deep" in done.stdout
    assert "recorded by Firefox 140 on 2026-05-01" in h123("site", "show", "mine.yaml").stdout
    (h123.folder / "two.har").write_text(json.dumps({"log": {**log, "entries": entries}}))
    h123.succeed("site", "import", "two.har", "--hosts", "apart", "--out", "two.yaml")
    shown = h123("site", "show", "two.yaml").stdout
    assert "cdn-example-org was cdn.example.org" in " ".join(shown.split())
    assert "of the host cdn-example-org: 1 request, 900 B" in shown
    assert "A returning visitor (cache: kept) makes 1 request, 900 B" in shown
    assert "is there already" in h123.refusal("site", "import", "page.har", "--out", "mine.yaml")
    assert "mine.yaml:1: not JSON, so not a HAR" in h123.refusal("site", "import", "mine.yaml", "--out", "other.yaml")
