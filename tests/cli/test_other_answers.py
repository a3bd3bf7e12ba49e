"""A build that answers with another size is not compared, and does not pass a gate, unless that is asked for."""

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.conftest import Tool
from cli.own_programs import FILES

PROGRAM = f"{shlex.quote(sys.executable)} sizes.py"
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
URL = ("--url", "https://localhost:8443/x")
FEW = ("--networks", "home", "--protocols", "h1", "--load", "1x2", "--clock", "virtual", "--max-blocks", "8")
FASTER = ("--fail-if", "latency new/base > 1.05", "--by", "estimate")
BY_PROTOCOL = """
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
const cert = readFileSync("cert.pem"), key = readFileSync("key.pem");
createSecureServer({ cert, key, allowHTTP1: true }, (request, response) =>
  response.end("x".repeat(request.httpVersionMajor === 1 ? 24000 : 100))).listen(8443);
"""


@pytest.fixture
def own(own: Path) -> Path:
    """A folder with the programs and a certificate."""
    shutil.copy(FILES / "sizes.py", own)
    (own / "by-protocol.mjs").write_text(BY_PROTOCOL)
    return own


def builds(base: str, new: str) -> list[str]:
    """Two servers, by what each answers with."""
    return [*("--server", f"base={PROGRAM} {base}"), *("--server", f"new={PROGRAM} {new}"), *URL]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("servers", "said"),
    [
        (builds("240000", "0"), "over HTTP/1.1: base 200 with 240000 B, new 200 with 0 B"),
        pytest.param(
            builds("240000 HTTP/1.0", "239000 HTTP/1.0"),
            "base 200 with 240000 B, new 200 with 239000 B",
            marks=pytest.mark.heavy,
        ),
        pytest.param(builds("100", "240000"), "base 200 with 100 B, new 200 with 240000 B", marks=pytest.mark.heavy),
        pytest.param(
            ["--server", "node by-protocol.mjs", *URL],
            "HTTP/1.1 200 with 24000 B, HTTP/2 200 with 100 B",
            marks=[NODE, pytest.mark.heavy],
        ),
    ],
    ids=["nothing", "HTTP/1.0", "more", "protocols"],
)
def test_what_answers_differently_is_not_compared(h123: Tool, servers: list[str], said: str) -> None:
    refusal = h123.refusal("compare", *servers, "--networks", "home", "--max-blocks", "8", "--out", "c")
    assert "answer differently, so their times do not say which is faster" in refusal
    assert said in refusal
    assert not (h123.folder / "c").exists()


@pytest.mark.heavy
def test_it_is_said_first_and_does_not_pass(h123: Tool, own: Path) -> None:
    """With `--answers-differ` the gate passes. The same study without that is not judged, whoever runs it."""
    kept = ["--answers-differ", "--out", "any", "--save", "s.yaml"]
    asked = h123.succeed("compare", *builds("24000", "0"), *FEW, *FASTER, *kept)
    said = "On home, new answers with 0 B, base with 24000 B. They do different work, "
    assert _leads(asked.stdout, said + "and the study asks to compare them all the same.")
    assert (_gate(own / "any"), len(_answers(own / "any"))) == ("passed", 1)
    _forget_the_wish(own / "s.yaml")
    run = h123("run", "s.yaml", "--out", "alike")
    assert run.returncode == 98, run.stderr
    assert _leads(run.stdout, said + "so they are not compared.")
    assert "takes" not in run.stdout  # no reasons why what is not compared is faster
    assert run.stdout.count("home is not judged") == 1
    assert _gate(own / "alike") == "undecided"
    (one,) = _answers(own / "alike")
    assert (one["a_bytes"], one["b_bytes"]) == ([0, 0], [24000, 24000])
    page = (own / "alike/report.html").read_text()
    main = page[page.index("<main>") :]
    assert main.index("Gate: undecided") < main.index("They do different work") < main.index("<table")


@NODE
@pytest.mark.heavy
def test_protocols_of_one_server(h123: Tool, own: Path) -> None:
    few = ["--networks", "home", "--load", "1x2", "--clock", "virtual", "--max-blocks", "8"]
    server = ["--server", "node by-protocol.mjs", *URL]
    h123.succeed("compare", *server, *few, "--answers-differ", "--out", "any", "--save", "s.yaml")
    _forget_the_wish(own / "s.yaml")
    faster = ("--fail-if", "latency h2/h1 > 1.05", "--by", "estimate")
    h123.succeed("gate", "any", *faster)
    h123.succeed("run", "s.yaml", "--out", "alike")
    gate = h123("gate", "alike", *faster)
    assert gate.returncode == 98, gate.stderr
    said = "On home, h2 answers with 100 B, h1 with 24000 B. They do different work, so they are not compared."
    assert _leads(h123("analyse", "alike").stdout, said)


def _leads(printed: str, sentence: str) -> bool:
    """Whether a sentence comes before the answer's table."""
    words = " ".join(printed.split())
    return 0 <= words.find(sentence) < words.find("median over the trials")


def _gate(folder: Path) -> str:
    return str(json.loads((folder / "gate.json").read_text())["verdict"])


def _answers(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "verdicts.json").read_text())["answers"]
    return found


def _forget_the_wish(study: Path) -> None:
    """To compare what answers differently."""
    read = yaml.safe_load(study.read_text())
    assert read["compare"].pop("answers") == "any"
    study.write_text(yaml.safe_dump(read, sort_keys=False))
