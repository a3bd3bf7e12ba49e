"""`h123 tune`, as people use it: its mistakes at once, its rounds in a virtual kernel."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Tool, h123
from cli.test_virtual_clock import built, kernel

__all__ = ["built", "h123", "kernel"]  # fixtures
SERVER = Path(__file__).with_name("own_server.py")
URL = ["--url", "https://localhost:8443/"]


def _command(fault: str) -> str:
    return f"{sys.executable} {SERVER} {fault}"


def test_the_shipped_knobs_are_listed(h123: Tool) -> None:
    done = h123("tune", "--list")
    assert done.returncode == 0, done.stderr
    assert "http3_stream_buffer_size" in done.stdout
    done = h123("tune", "--list", "--knobs", "nginx")
    assert "https://nginx.org/en/docs/http/ngx_http_v3_module.html#quic_gso" in done.stdout


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
    ],
)
def test_a_mistake_is_answered_at_once_and_leaves_nothing(h123: Tool, options: list[str], said: str) -> None:
    done = h123("tune", *options)
    assert done.returncode == 2, done.stdout
    assert said in " ".join(done.stderr.split())
    assert not (h123.folder / "campaigns").exists()


@pytest.mark.heavy
@pytest.mark.usefixtures("kernel")
def test_candidates_are_tried_and_an_interrupted_tuning_is_resumed(h123: Tool) -> None:
    make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=localhost"
    files = ["-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", *make.split(), *files], cwd=h123.folder, check=True, capture_output=True)
    asked = ["tune", "--server", _command("{{ fault }}"), "--knob", 'fault={"",compress,die,late}', *URL]
    asked += ["--networks", "home", "--blocks", "6", "--load", "1x2", "--out", "t"]
    interrupted = h123.start(*asked)
    assert interrupted.stderr
    next(line for line in interrupted.stderr if "Last round" in line)
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait(120) == 130
    other = h123(*asked, "--seed", "2")
    assert other.returncode == 2
    assert "holds a tuning with another --seed" in " ".join(other.stderr.split())
    done = h123("tune", "--out", "t")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 15
    assert "No setting makes a difference above the margin of 3 %." in done.stdout
    answer = json.loads((h123.folder / "t" / "answer.json").read_text())
    assert answer["chosen"] == {"fault": "late"}
    assert [claim["verdict"] for claim in answer["claims"]] == ["same"]
    assert "cannot read my configuration" in answer["dropped"]["fault=die"]
    assert "answers differently" in answer["dropped"]["fault=compress"]
    assert json.loads(h123(*asked, "--json").stdout) == answer
