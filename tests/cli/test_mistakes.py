"""Bad input of every kind: one clear message, a non-zero exit, nothing lost."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import ROOT, SMOKE, Tool


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("network:", "netwrok:", "netwrok"),
        ("medium", "mediun", "medium"),
        ("server: go", "server: goo", "goo"),
        ("size: 10kB", "size: many", "many"),
        ("blocks: 1", "blocks: 0", "blocks"),
        ("h123: study/1", "h123: study/9", "study/9"),
        ("method: GET", "method: FETCH", "GET"),
    ],
)
def test_broken_study_names_file_line_and_cure(h123: Tool, old: str, new: str, said: str) -> None:
    assert old in SMOKE
    study = h123.folder / "broken.yaml"
    study.write_text(SMOKE.replace(old, new, 1))
    line = next(n for n, text in enumerate(study.read_text().splitlines(), 1) if new in text)
    refusal = h123.refusal("run", "broken.yaml", "--out", "out")
    assert f"broken.yaml:{line}" in refusal
    assert said in refusal
    assert not (h123.folder / "out").exists()


def test_negative_delay(h123: Tool) -> None:
    network = h123.folder / "odd.yaml"
    network.write_text("h123: network/1\nname: odd\ntitle: odd\nboth:\n  delay: -5ms\n")
    refusal = h123.refusal("lab", "exec", "--network", "odd.yaml", "--server", "true", "--client", "true")
    assert "odd.yaml:5" in refusal
    assert "negative" in refusal


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nonesuch"], "nonesuch"),
        (["run"], "no study"),
        (["run", "smoke", "--filter", "network"], "FACTOR=LEVEL"),
        (["run", "smoke", "--until-decided", "--blocks", "9"], "--max-blocks"),
        (["run", "smoke", "--max-blocks", "12"], "--until-decided"),
        (["run", "smoke", "--precision", "5%", "--until-decided"], "cannot be combined"),
        (["run", "smoke", "--precision", "5%", "--blocks", "9"], "--max-blocks"),
        (["run", "smoke", "--precision", "0"], "above 0"),
        (["plan", "smoke", "--spread", "5x"], "not a share"),
        (["run", "smoke", "--filter", "network=mars"], "mars"),
        (["run", "smoke", "--filter", "colour=red"], "colour"),
        (["plan", "smoke", "--blocks", "1000000000"], "1000000000 blocks of 6 trials or more are too many"),
        (["analyse", "nowhere"], "nowhere"),
        (["verify", "nowhere"], "nowhere"),
        (["export", "nowhere", "--format", "csv"], "nowhere"),
        (["install", "nonesuch"], "nonesuch"),
        (["list", "planets"], "value for 'what': 'planets' is not one of"),
        (["list", "network"], "Did you mean networks?"),
        (["list", "study"], "Did you mean studies?"),
        (["run", "smoke", "--networks", "lan"], "--filter network=NAME,..."),
        (["plan", "smoke", "--protocols", "h2"], "--filter protocol=h2,h3"),
        (["run", "smoke", "--url", "https://localhost/"], "`h123 compare` measures your own server"),
        (["compare", "--filter", "network=lan"], "choose with --networks NAME,..."),
        (["tune", "--fail-if", "latency h3/h2 > 1"], "only `h123 compare`, `h123 gate`, `h123 diff` can use it"),
        (["plan", "smoke", "--blocks", "x"], "value for '--blocks': must be a whole number"),
        (["run", "smoke", "--jobs", "0"], "must be at least 1, found '0'"),
        (["tune", "--knob", "x=a", "x=b", "y=c", "y=d", "--knobs", "go"], "write --knob 'x={a,b}'"),
        (["tune", "--knob", "x={a,", "b}", "--knobs", "go"], "write --knob 'x={a, b}'"),
        (["run", "smoke", "--filter", "network=lan", "network=home"], "write --filter network=lan,home"),
        (["compare", "--networks", "lan,", "home"], "write --networks lan,home"),
        (["compare", "--server", "nginx", "-c", "nginx.conf", "--blocks", "6"], "write --server '...'"),
    ],
)
def test_wrong_arguments(h123: Tool, arguments: list[str], said: str) -> None:
    assert said in h123.refusal(*arguments)


@pytest.mark.parametrize(("there", "asked"), [("s.yaml", "s.yml"), ("s.yml", "s.yaml"), ("s.yaml", "s")])
def test_the_other_suffix_is_suggested(h123: Tool, there: str, asked: str) -> None:
    (h123.folder / "mine").mkdir()
    (h123.folder / "mine" / there).write_text(SMOKE)
    refusal = h123.refusal("run", f"mine/{asked}")
    assert f"study file not found: mine/{asked}" in refusal
    assert f"did you mean mine/{there}?" in refusal


def _subject(folder: Path, script: str) -> Path:
    """A subjects folder with the project's own and one more server, which does as `script` says."""
    subjects = folder / "subjects"
    subjects.mkdir()
    (subjects / "go").symlink_to(ROOT / "subjects/go")
    odd = subjects / "odd"
    odd.mkdir()
    (odd / "serve").write_text(f"#!/bin/sh\n{script}\n")
    (odd / "subject.toml").write_text(
        """
h123 = "subject/1"
name = "odd"
title = "a server that misbehaves"
stack = "none"
language = "sh"
version = "1"
home = "https://example.org"
licence = "Apache-2.0"
[install]
needs = ["install"]
needs_help = "coreutils"
build = ["install", "-m", "755", "serve", "{prefix}/serve"]
embedded = false
[server]
command = ["{prefix}/serve", "{address}", "{port}"]
protocols = ["h1", "h2", "h3"]
methods = ["GET"]
listens = {h1 = ["tcp"], h2 = ["tcp"], h3 = ["udp"]}
[features]
congestion = {h1 = "kernel", h2 = "kernel", h3 = ["cubic"]}
"""
    )
    return subjects


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("echo cannot find my configuration >&2; exit 3", "server-exited", "cannot find my configuration"),
        ("exit 127", "unsupported", "127"),
    ],
)
@pytest.mark.usefixtures("leaves_nothing_behind")
def test_server_that_does_not_serve(
    h123: Tool, monkeypatch: pytest.MonkeyPatch, script: str, code: str, said: str
) -> None:
    monkeypatch.setenv("H123_SUBJECTS", str(_subject(h123.folder, script)))
    monkeypatch.setenv("H123_CACHE", str(h123.folder / "cache"))
    study = h123.folder / "odd.yaml"
    study.write_text(SMOKE.replace("server: go", "server: odd", 1))
    done = h123("run", "odd.yaml", "--out", "out", "--filter", "network=lan")
    assert done.returncode == 1
    assert code in done.stderr
    assert said in done.stderr
    events = [json.loads(line) for line in (h123.folder / "out/journal.jsonl").read_text().splitlines()]
    failed = [event for event in events if event["event"] == "trial"]
    assert failed
    assert all(event["reasons"][0]["code"] == code for event in failed)


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_server_that_ends_leaves_a_gate_undecided(h123: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run` ended with 1 and without a report, `gate` with 98."""
    monkeypatch.setenv("H123_SUBJECTS", str(_subject(h123.folder, "exit 3")))
    monkeypatch.setenv("H123_CACHE", str(h123.folder / "cache"))
    study = SMOKE.replace("server: go", "server: odd", 1) + "require: [latency h3/h2 <= 2]\n"
    (h123.folder / "odd.yaml").write_text(study)
    done = h123("run", "odd.yaml", "--out", "out", "--filter", "network=lan")
    assert done.returncode == 98, done.stderr
    assert done.stdout.startswith("Gate: undecided\n")
    assert "3 trials in a row failed all their attempts" in " ".join(done.stderr.split())
    assert (h123.folder / "out/report.html").exists()
    assert h123("gate", "out").returncode == 98


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("protocol: [h1, h2, h3]", "protocol: [h1, h2, h3]", "subject odd as a server does not support protocol h3"),
        ("method: GET", "method: POST", "subject odd as a server does not support method POST"),
        ("users: 2", "users: 3", "at most 2 requests of a connection in flight at once over h2"),
        ("users: 2", "users: 2\n  clock: virtual", "subject odd as a server does not support clock virtual"),
        ("client: go", "client: odd", "subject odd is not a client"),
    ],
)
def test_plan_refuses_what_run_refuses(
    h123: Tool, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
) -> None:
    subjects = _subject(h123.folder, "exit 1")
    manifest = (subjects / "odd/subject.toml").read_text()
    for wide, narrow in (
        ('protocols = ["h1", "h2", "h3"]', 'protocols = ["h1", "h2"]'),
        (', h3 = ["udp"]}', "}\nlimits = {streams = {h2 = 2}}"),
        (', h3 = ["cubic"]', ""),
    ):
        assert wide in manifest
        manifest = manifest.replace(wide, narrow)
    (subjects / "odd/subject.toml").write_text(manifest)
    monkeypatch.setenv("H123_SUBJECTS", str(subjects))
    study = SMOKE.replace("server: go", "server: odd").replace(old, new)
    # What is asked for besides must be there, or it would be refused instead.
    if "h3" not in said:
        study = study.replace("[h1, h2, h3]", "[h1, h2]").replace("[h3/h2, h3/h1, h2/h1]", "[h2/h1]")
        study = study.replace("pairs: [h3/h2]", "pairs: [h2/h1]")
    (h123.folder / "odd.yaml").write_text(study)
    refused = [h123("plan", "odd.yaml"), h123("run", "odd.yaml", "--out", "out")]
    assert [done.returncode for done in refused] == [2, 2]
    assert refused[0].stderr == refused[1].stderr
    assert said in " ".join(refused[0].stderr.split())
    assert not (h123.folder / "out").exists()


def test_a_broken_manifest_stops_only_those_who_use_the_subject(h123: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    subjects = _subject(h123.folder, "exit 1")
    manifest = subjects / "odd/subject.toml"
    manifest.write_text(manifest.read_text().replace("[server]", "[server"))
    monkeypatch.setenv("H123_SUBJECTS", str(subjects))
    fault = f"{manifest}:{manifest.read_text().splitlines().index('[server') + 1}: Expected ']'"
    for arguments in (["plan", "smoke"], ["list", "subjects"], ["list", "subjects", "go"]):
        done = h123(*arguments)
        assert (done.returncode, done.stderr.count("warning:")) == (0, 1), done.stderr
        assert " ".join(done.stderr.split()).startswith(f"h123: warning: {fault}")
    assert not h123("list", "networks").stderr
    study = h123.folder / "odd.yaml"
    study.write_text(SMOKE.replace("server: go", "server: odd", 1))
    for arguments in (["plan", "odd.yaml"], ["run", "odd.yaml"], ["install", "odd"], ["verify", "odd"]):
        assert f"h123: {fault}" in h123.refusal(*arguments)


def _with_a_tiny_disk(folder: Path, options: str, script: str) -> "subprocess.CompletedProcess[str]":
    """A shell script in which `h123` stands for the tool, and `tiny` is a file system of its own."""
    head = f"""
        set -e
        h123() {{ {shlex.quote(sys.executable)} -m hasty "$@"; }}
        mkdir tiny; mount -t tmpfs -o {options} none tiny
    """
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}", "COLUMNS": "200"}
    command = ["unshare", "--mount", "sh", "-c", head + script]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False)


def test_full_disk_is_said_and_the_campaign_goes_on_afterwards(h123: Tool) -> None:
    script = """
        mkdir tiny/out; head -c 250000 /dev/zero > tiny/ballast
        if h123 run smoke --filter network=lan --out tiny/out/c; then exit 9; fi
        rm tiny/ballast; mount -o remount,size=50m tiny
        h123 run smoke --filter network=lan --out tiny/out/c
    """
    done = _with_a_tiny_disk(h123.folder, "size=300k", script)
    assert done.returncode == 0, done.stderr
    assert "free" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "fill",
    [
        "head -c 20m /dev/zero > tiny/ballast",
        pytest.param("mkdir tiny/n; cd tiny/n; seq 500 | xargs touch", marks=pytest.mark.heavy),
    ],
)
def test_disk_that_fills_amid_a_campaign_pauses_it(h123: Tool, fill: str) -> None:
    """Neither a lab, a client nor a server is blamed for what they could not write; bytes or files are used up."""
    script = f"""
        h123 run smoke --filter network=medium --out tiny/c & tool=$!
        until test "$(grep -c '"cell"' tiny/c/journal.jsonl 2>/dev/null)" = 1; do kill -0 $tool && sleep 0.01; done
        ({fill}) 2>/dev/null || true
        wait $tool && exit 9 || test $? = 1
        cp tiny/c/journal.jsonl before
        rm -r tiny/ballast tiny/n 2>/dev/null || true
        h123 run --out tiny/c
        cp tiny/c/journal.jsonl after
    """
    done = _with_a_tiny_disk(h123.folder, "size=10m,nr_inodes=500", script)
    assert done.returncode == 0, done.stderr
    assert "the disk is full. The campaign pauses; finished trials are kept" in " ".join(done.stderr.split())
    assert "h123 run --out tiny/c" in done.stderr
    assert "Traceback" not in done.stderr
    before, after = ((h123.folder / name).read_text().splitlines() for name in ("before", "after"))
    kept = [line for line in before if line.endswith("}")]
    assert after[: len(kept)] == kept
    trials = [event for event in map(json.loads, after) if event["event"] == "trial"]
    assert all(event["valid"] for event in trials), "what failed for want of space is no attempt"
    assert len({event["trial"] for event in trials}) == 4


def test_limit_on_files_is_said(h123: Tool) -> None:
    done = _with_a_tiny_disk(h123.folder, "ro", "(ulimit -f 1; h123 run smoke --out c || test $? = 1)")
    assert done.returncode == 0, done.stderr
    assert "ulimit -f" in done.stderr
    assert "Traceback" not in done.stderr


def test_where_nothing_can_be_written_nothing_is_begun(h123: Tool) -> None:
    done = _with_a_tiny_disk(h123.folder, "ro", "h123 run smoke --out tiny/c || test $? = 2")
    assert done.returncode == 0, done.stderr
    assert "tiny cannot be written to" in done.stderr


def test_what_is_no_study_is_refused_at_once(h123: Tool) -> None:
    os.mkfifo(h123.folder / "pipe.yaml")
    (h123.folder / "folder.yaml").mkdir()
    (h123.folder / "nul.yaml").write_text("h123: study/1\nname: a\0b\n")
    for study, said in (
        ("pipe.yaml", "it is a named pipe, not a file"),
        ("folder.yaml", "it is a folder, not a file"),
        ("/dev/zero", "it is a device, not a file"),
        ("nul.yaml", "nul.yaml:2: the character U+0000 is not allowed"),
        ("x" * 300 + ".yaml", "study file not found"),
    ):
        assert said in h123.refusal("plan", study)


def test_retry_needs_a_campaign(h123: Tool) -> None:
    for arguments in (["run", "smoke", "--retry"], ["run", "smoke", "--out", "new", "--retry"]):
        assert "--retry runs failed trials of an existing campaign again" in h123.refusal(*arguments)
    assert not (h123.folder / "new").exists()
