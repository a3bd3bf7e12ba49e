"""`h123 tune`, as people use it: its mistakes at once, its rounds in a virtual kernel."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Tool, h123
from cli.test_compare import recorded
from cli.test_virtual_clock import built, kernel
from h123.cli.comparisons.tuning import repeat_line
from h123.cli.comparisons.tuning_arguments import TuneArguments, requested
from h123.cli.comparisons.tuning_start import begin
from h123.study import list_knobs
from h123.tuning import KnobLibrary

__all__ = ["built", "h123", "kernel"]  # fixtures
SERVER = Path(__file__).with_name("own_server.py")
URL = ["--url", "https://localhost:8443/"]


def _command(fault: str) -> str:
    return f"{sys.executable} {SERVER} {fault}"


def test_the_shipped_knobs_are_listed(h123: Tool) -> None:
    done = h123.succeed("tune", "--list")
    assert "http3_stream_buffer_size" in done.stdout
    done = h123("tune", "--list", "--knobs", "nginx")
    assert "https://nginx.org/en/docs/http/ngx_http_v3_module.html#quic_gso" in done.stdout


def test_the_command_that_repeats_a_tuning_hides_secrets() -> None:
    url = ["https://localhost:8443/?token=t0p&n=1"]
    asked = TuneArguments(
        server="./s {{ w }}", knobs=["w={1,2}"], urls=url, headers=["Auth: t0p"], environment=["K=t0p"]
    )
    command = requested(asked).command
    assert "t0p" not in command
    assert "?token=***&n=1" in command
    assert repeat_line(command) == f"Repeat (h123 hides secrets: replace each *** with the value): {command}"
    assert repeat_line("h123 tune --knobs go") == "Repeat: h123 tune --knobs go"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no server given"),
        (["--server", "x"], "no knob given"),
        (["--server", "x {{ a }}", "--knob", "b={1,2}", *URL], "{{ a }} is not a knob"),
        (["--server", "x {{ a }}", "--knob", "a={1,1}", *URL], "given twice"),
        (["--server", "x {{ a }}", "--knob", "a={1,2}"], "no URL given"),
        (["--server", "x {{ a }}", "--knob", "a={1,2}", "--networks", "moon", *URL], "moon"),
        (["--server", "x {{ a }}", "--knob", "a={1,2}", "--metric", "latensy", *URL], "--metric latensy"),
        (["--server", "x {{ a }}", "--knob", "a={1,2}", *URL], "there is no program x"),
        (["--knobs", "ngin"], "nginx"),
        (["--knobs", "nginx", "--knob", "gso"], "--knob gso: the choices are"),
        (["--address", "auto", "--server", "x"], "--engine ray"),
        (["--engine", "ray", "--server", "x"], "other machines do not have this server"),
        (["--knobs", "go", "--networks", "lan"], "lan has no delay and no rate"),
        (["--knobs", "go", "--protocols", "h4"], "--protocols h4: the choices are"),
        (["--knobs", "go", "--metric", "page_complete"], "page visits -> name a recorded page"),
        (["--knobs", "go", "--metric", "cpu"], "cpu has no value under the virtual clock"),
        (["--knobs", "go", "--metric", "latency_p99", "--load", "9x9"], "needs 300 requests -> --load 9x34"),
        (["--out", "t", "--blocks", "7"], "there is no tuning in t to resume"),
    ],
)
def test_a_mistake_is_answered_at_once_and_leaves_nothing(h123: Tool, options: list[str], said: str) -> None:
    assert said in h123.refusal("tune", *options)
    assert not (h123.folder / "campaigns").exists()


@pytest.mark.heavy
@pytest.mark.usefixtures("kernel")
def test_candidates_are_tried_and_an_interrupted_tuning_is_resumed(h123: Tool) -> None:
    make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=localhost"
    files = ["-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", *make.split(), *files], cwd=h123.folder, check=True, capture_output=True)
    asked = ["tune", "--server", _command("{{ fault }}"), "--knob", 'fault={"",compress,die,late,x}', *URL]
    asked += ["--networks", "home", "--blocks", "6", "--load", "1x2", "--out"]
    for number, part in ((signal.SIGKILL, "Round 1"), (signal.SIGINT, "Last round")):
        interrupted = h123.start(*asked, "t")
        assert interrupted.stderr
        next(line for line in interrupted.stderr if part in line)
        next(line for line in interrupted.stderr if line.startswith("["))
        interrupted.send_signal(number)
        assert interrupted.wait(120) == (130 if number == signal.SIGINT else -number)
        if part == "Round 1":
            h123.succeed("run", "--out", "t/round-1")
    for other, option in ((asked, "--seed"), (["tune", "--out"], "--blocks")):
        assert f"was begun with a different {option}" in h123.refusal(*other, "t", option, "7")
    done = h123.succeed("tune", "--out", "t")
    assert len(done.stdout.splitlines()) <= 15
    assert "No setting makes a difference above the margin of 3 %." in done.stdout
    text = (h123.folder / "t" / "answer.json").read_text()
    answer = json.loads(text)
    assert answer["chosen"] == {"fault": "late"}
    assert [claim["verdict"] for claim in answer["claims"]] == ["same"]
    assert "cannot read my configuration" in answer["dropped"]["fault=die"]
    assert "its responses differ" in answer["dropped"]["fault=compress"]
    whole = h123(*asked, "whole", "--json").stdout
    assert json.loads(whole)["claims"][0]["ratio"] == pytest.approx(answer["claims"][0]["ratio"], rel=1e-3)
    # Python's threads differ by microseconds from run to run.
    assert json.loads(whole, parse_float=str.isspace) == json.loads(text, parse_float=str.isspace)


@pytest.mark.heavy
@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    ("options", "said", "metric"),
    [
        (["--data", "order", "--url", "https://localhost:8443/upload"], "POST /upload: 200", "latency"),
        (["--har", "page.har", "--networks", "home"], "The page: 2 requests", "page_complete"),
        (["--rate", "20", "--url", "https://localhost:8443/bytes/2000"], "GET /bytes/2000", "latency"),
    ],
)
def test_every_kind_of_request(h123: Tool, options: list[str], said: str, metric: str) -> None:
    (h123.folder / "order").write_bytes(b"x" * 3000)
    recorded(h123.folder, "/bytes/9000", "/bytes/20000")
    knobs = ["--knobs", "go", "--knob", "initial_window", "--networks", "home"]
    done = h123.succeed("tune", *knobs, "--blocks", "6", "--load", "1x2", *options, "--out", "t")
    assert said in done.stderr
    answer = json.loads((h123.folder / "t/answer.json").read_text())
    assert {claim["metric"] for claim in answer["claims"]} == {metric}
    assert not answer["dropped"]
    assert "combinations? c" in json.loads((h123.folder / "t/final/campaign.json").read_text())["study"]["question"]


@pytest.mark.heavy
@pytest.mark.parametrize("path", list_knobs(), ids=lambda path: path.stem)
def test_a_server_answers_with_every_value_of_its_knobs(tmp_path: Path, path: Path) -> None:
    library = KnobLibrary.read(path.stem)
    if not library.content.subject and not shutil.which((library.content.command or "").split()[0]):
        pytest.skip("the server is not installed")
    protocols = {"go": "h3", "node": "h1,h2"}.get(path.stem, "h1,h2,h3")
    for knob in library.content.knobs:
        asked = TuneArguments(knob_file=path.stem, knobs=[knob], protocols=protocols)
        assert begin(asked, requested(asked), tmp_path / knob).dropped == {}
