"""subjects/load: what of it needs neither a server nor its libraries. The rest is `h123 verify load`."""

import itertools
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from catalogue import test_c_clients
from h123.base.paths import project_root

LOAD, SHARED = project_root() / "subjects/load", test_c_clients.SHARED
PURE = [*(LOAD / f"{name}.c" for name in ("job", "entries", "exchange", "answer")), SHARED / "timers.c"]
PROGRAM = Path(__file__).parent / "load_client.c"
WORKLOAD = {**test_c_clients.WORKLOAD, "path": "/bytes/100000"}
MIX = {
    "kind": "mix",
    "mix": [
        {
            "method": "POST",
            "path": "/a",
            "headers": [{"name": "X-Odd", "value": '], "\\{', "changes": False}],
            "body_bytes": 7,
            "body_file": None,
            "status": 201,
            "think_ns": 5,
        }
    ],
    "order": [0, 0, 0],
}
NO_REQUEST = {"method": ..., "path": ..., "upload_bytes": ...}


def _resource(path: str, initiator: int | None, urgency: int = 0, run_ns: int = 0, **more: Any) -> dict[str, Any]:
    return {"path": path, "headers": [], "initiator": initiator, "urgency": urgency, "run_ns": run_ns, **more}


def _page(*initiators: int | None, **changed: Any) -> dict[str, Any]:
    page = [_resource(f"/bytes/{i}", initiator, i, 10 * i) for i, initiator in enumerate(initiators)]
    return {"kind": "page", **NO_REQUEST, "connections": 6, "page": page, "at_once": 1, **changed}


USUAL = "h123.test|2|4|1|0|1|0|18446744073709551615|1|0|GET|/bytes/100000|0|0|1|100000"

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("load")
    shared = [SHARED / f"{name}.c" for name in ("json", "reading", "page", "workload")]
    return test_c_clients.compiled(folder / "program", [PROGRAM, *PURE, *shared], LOAD)


def _run(program: Path, *words: object, told: bytes = b"") -> "subprocess.CompletedProcess[str]":
    # It ends without freeing what it has read.
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program, *map(str, words)], input=told, capture_output=True, env=environment)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def _read(program: Path, changed: dict[str, Any], indent: int | None = None) -> "subprocess.CompletedProcess[str]":
    path = program.with_name("workload.json")
    whole = {name: value for name, value in {**WORKLOAD, **changed}.items() if value is not ...}
    path.write_text(json.dumps(whole, indent=indent))
    return _run(program, path)


@pytest.mark.parametrize(
    ("changed", "read"),
    [
        ({}, USUAL),
        ({"protocol": "h1", "seed": 7}, USUAL.replace("|2|4|1|", "|1|4|4|").replace(str(2**64 - 1), "7")),
        ({"connections": 3, "rate": 12.5}, USUAL.replace("|4|1|0|", "|4|3|12.5|")),
        ({"connections": "per-user", "cold": False}, USUAL.replace("|4|1|0|1|", "|4|4|0|0|")),
        ({"sessions": "resumed"}, USUAL.replace("|1|0|1844", "|1|1|1844")),
        ({"sessions": "fast-open"}, USUAL.replace("|1|0|1844", "|1|2|1844")),
        # Of a server that is no subject, nobody knows what it answers.
        ({"authority": "own:8443"}, USUAL.replace("|0|0|1|100000", f"|0|0|0|{2**40}")),
        ({"path": "/bytes/1?x"}, USUAL.replace("/bytes/100000|0|0|1|100000", "/bytes/1?x|0|0|0|65536")),
        (
            {"headers": [{"name": "Cookie", "value": "a, [b]" + "0" * 12, "changes": True}]},
            USUAL.replace("100000|0|0|1", "100000|0|1|1") + "\ncookie: a, [b]000000000000 (1)",
        ),
        (
            {**MIX, **NO_REQUEST},
            USUAL.replace("|1|0|GET|/bytes/100000|0|0|1|100000", f"|1|3|POST|/a|7|1|0|{2**40}")
            + '\nx-odd: ], "\\{ (0)',
        ),
        (
            _page(None, 0, 3, 0, 3, 1),
            USUAL.replace("|4|1|0|1|0|", "|4|6|0|1|0|").replace(
                "|1|0|GET|/bytes/100000|0|0|1|100000", "|6|0|GET|/bytes/0|0|0|1|65536"
            )
            + "\n/bytes/0: urgency 0, runs 0, asks for 1 3"
            + "\n/bytes/1: urgency 1, runs 10, asks for 5"
            + "\n/bytes/2: urgency 2, runs 20, asks for"
            + "\n/bytes/3: urgency 3, runs 30, asks for 2 4"
            + "\n/bytes/4: urgency 4, runs 40, asks for"
            + "\n/bytes/5: urgency 5, runs 50, asks for",
        ),
        # How long a page's real document is, and what is in it, its server alone knows.
        (
            _page(page=[_resource("/pages/large", None)]),
            USUAL.replace("|4|1|0|1|0|", "|4|6|0|1|0|").replace(
                "|1|0|GET|/bytes/100000|0|0|1|100000", f"|1|0|GET|/pages/large|0|0|0|{2**40}"
            )
            + "\n/pages/large: urgency 0, runs 0, asks for",
        ),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_as_written(program: Path, changed: dict[str, Any], read: str, indent: int | None) -> None:
    done = _read(program, changed, indent)
    assert (done.returncode, done.stdout) == (0, read + "\n"), done.stderr


def test_requests_are_due_as_the_gaps_say(program: Path) -> None:
    gaps = [0, 5, 0, 10**12, *range(2 * 50 - 4)]
    for indent in (None, 2):
        done = _read(program, {"users": 2, "requests": 49, "warmup": 1, "gaps_ns": gaps}, indent)
        due = [int(line.removeprefix("due ")) for line in done.stdout.splitlines() if line.startswith("due ")]
        assert due == [*itertools.accumulate(gaps)], done.stderr
    assert "due" not in _read(program, {}).stdout


def test_requests_are_made_again_as_they_are_to_be(program: Path) -> None:
    done = _read(program, {"retry_ns": 14_999_999_999, "retries": 2})
    assert done.stdout == f"{USUAL}\nagain 2 times, every 14999999999 ns\n", done.stderr


@pytest.mark.parametrize(
    ("changed", "status", "said"),
    [
        ({"later": None}, 127, "later is not supported"),
        ({"later": []}, 127, "later is not supported"),
        ({"key_share": "P-256"}, 127, "key_share P-256 is not supported"),
        ({"kind": "journey"}, 127, "kind journey is not supported"),
        (_page(None, 0, page=[]), 2, "page must have a document"),
        (_page(0, 0), 2, "initiator must be null of the first"),
        (_page(None, None), 2, "initiator must be null of the first"),
        (_page(None, 2), 2, "page[1]: initiator must be an index of page"),
        (_page(None, 2, 1), 2, "page[1]: initiator must lead to the first, not round in a circle"),
        (_page(None, 1), 2, "must lead to the first"),
        (_page(None, 0, at_once=0), 2, "at_once must be a number from 1"),
        (_page(None, connections="shared"), 2, "connections must be a number with the kind page"),
        (_page(None, rate=5.0), 2, "no rate and no gaps_ns"),
        (_page(None, page=[_resource("/a", None, hue=1)]), 127, "hue is not supported"),
        (_page(None, page=[_resource("/a", None, run_ns=-1)]), 2, "run_ns must be"),
        ({"authority": None}, 127, "authority is not supported"),
        ({"at_once": 2}, 127, "at_once is not supported"),
        ({"protocol": "h4"}, 127, "protocol h4 is not supported"),
        ({"h123": "workload/3"}, 127, "h123 workload/3 is not supported"),
        ({"sessions": "early"}, 127, "sessions early is not supported over h2"),
        ({"sessions": "half"}, 127, "sessions half is not supported"),
        ({"protocol": "h3", "sessions": "fast-open"}, 127, "sessions fast-open is not supported over h3"),
        ({"sessions": "resumed", "cold": False}, 2, "with cold requests"),
        ({"headers": [{"name": "a", "value": "b", "changes": False, "hue": 1}]}, 127, "hue is not supported"),
        ({"headers": [{"name": "a", "value": "short", "changes": True}]}, 2, "12 characters to change"),
        ({"headers": {}}, 2, "headers must be a list"),
        ({"users": 0}, 2, "users must be a number from 1"),
        ({"users": ...}, 2, "users is missing"),
        ({"connections": 0}, 2, "connections must be shared, per-user or a number from 1"),
        ({"gaps_ns": None}, 127, "gaps_ns is not supported"),
        ({"gaps_ns": [1] * 19}, 2, "gaps_ns must be there for each request"),
        ({"gaps_ns": [1] * 21}, 2, "gaps_ns must be there for each request"),
        ({"gaps_ns": [1] * 20, "rate": 5.0}, 2, "not beside a rate"),
        ({"gaps_ns": []}, 2, "gaps_ns must be there for each request"),
        ({"gaps_ns": [1] * 19 + [-1]}, 2, "whole numbers from 0"),
        ({"gaps_ns": [1] * 19 + [1.5]}, 2, "whole numbers from 0"),
        ({"gaps_ns": [1] * 19 + [2**63]}, 2, "whole numbers from 0"),
        ({"gaps_ns": [1] * 19 + ["1"]}, 2, "whole numbers from 0"),
        ({"gaps_ns": {"a": 1}}, 2, "whole numbers from 0"),
        ({"gaps_ns": 5}, 2, "gaps_ns must be a list"),
        ({"gaps_ns": [1] * 20, "dealt_to": None}, 127, "dealt_to is not supported"),
        ({"abandon_ns": 5}, 2, "abandoned is missing"),
        ({"abandoned": [1]}, 127, "abandoned is not supported"),
        ({"abandon_ns": 0, "abandoned": [1]}, 2, "abandon_ns must be a whole number from 1"),
        ({"abandon_ns": 10**15, "abandoned": [1]}, 2, "abandon_ns must be less than timeout_ns"),
        ({"abandon_ns": 5, "abandoned": [20]}, 2, "numbers of warm requests, in order"),
        ({"abandon_ns": 5, "abandoned": [3, 2]}, 2, "numbers of warm requests, in order"),
        ({"abandon_ns": 5, "abandoned": [3, 3]}, 2, "numbers of warm requests, in order"),
        ({"abandon_ns": 5, "abandoned": [0], "warmup": 1}, 2, "numbers of warm requests, in order"),
        ({**_page(None), "abandon_ns": 5, "abandoned": [0]}, 127, "abandon"),
        ({"retry_ns": 5}, 2, "retries is missing"),
        ({"retries": 1}, 127, "retries is not supported"),
        ({"retry_ns": 0, "retries": 1}, 2, "retry_ns must be a whole number from 1"),
        ({"retry_ns": 5, "retries": 0}, 2, "retries must be a whole number from 1"),
        ({"retry_ns": 5, "retries": 101}, 2, "retries must be 100 at most"),
        ({"retry_ns": 15_000_000_000, "retries": 2}, 2, "made before timeout_ns"),
        ({"retry_ns": 2**63 - 1, "retries": 100}, 2, "made before timeout_ns"),
        ({"retry_ns": 5, "retries": 1, "abandon_ns": 5, "abandoned": [1]}, 127, "retr"),
        ({**_page(None), "retry_ns": 5, "retries": 1}, 127, "retr"),
        ({"dealt_to": [0] * 20}, 2, "dealt_to must be there for each of gaps_ns"),
        ({"gaps_ns": [1] * 20, "dealt_to": [0] * 19}, 2, "dealt_to must be there for each of gaps_ns"),
        ({"gaps_ns": [1] * 20, "dealt_to": [0] * 19 + [1]}, 2, "dealt_to must be indices of the connections"),
        ({"gaps_ns": [1] * 20, "dealt_to": [0] * 19 + [-1]}, 2, "whole numbers from 0"),
        ({"upload_bytes": 5}, 2, "only POST uploads something"),
        ({"method": "PUT"}, 2, "method must be GET or POST"),
        ({**MIX, **NO_REQUEST, "order": [1]}, 2, "no index of mix"),
    ],
)
def test_what_it_cannot_do_is_refused(program: Path, changed: dict[str, Any], status: int, said: str) -> None:
    done = _read(program, changed)
    assert done.returncode == status
    assert said in done.stderr


ANSWERS = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\0\0\0", "whole 200 3 good 0"),
    (b"HTTP/1.1 200 OK\nConnection: close\nContent-Length: 0\n\n", "whole 200 0 good 0 closes"),
    (b"HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n\0", "whole 200 1 good 0"),
    (b"HTTP/1.1 204 None\r\n\r\n", "whole 204 0 good 0"),
    (b"HTTP/1.1 404 None\r\ncontent-length: 2\r\n\r\nno", "whole 404 2 other: status 404 0"),
    (b"HTTP/1.0 200 OK\r\n\r\n\0\0", "open 200 2 good 0 closes"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\0x", "whole 200 2 wrong-bytes 0"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\0", "part 200 1 protocol 0"),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\n\0\0\r\na\r\n"
        + bytes(10)
        + b"\r\n0\r\nt: 1\r\n\r\n",
        "whole 200 12 good 0",
    ),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n\0\0", "malformed"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", "malformed"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n", "malformed"),
    (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n", "malformed"),
    (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10000000000000000\r\n", "malformed"),
    (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n", "malformed"),
    (b"HTTP/1.1 101 Switching\r\n\r\n", "malformed"),
    (b"\r\n\r\n", "malformed"),
    (b"SSH-2.0-OpenSSH\r\n", "malformed"),
    (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50_000, "malformed"),
    (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000, "malformed"),
    (b"HTTP/1.1 200 OK\r\n\r\n" + bytes(100_001), "malformed"),
]


@pytest.mark.parametrize(
    ("answer", "found", "piece"),
    [
        # What is not read yet is looked through again with every piece.
        pytest.param(answer, found, piece, marks=pytest.mark.heavy if len(answer) > 100_000 * piece else ())
        for piece in (1, 2, 7, 1 << 20)
        for answer, found in ANSWERS
    ],
)
def test_answers_are_read_in_whatever_pieces_they_come(program: Path, answer: bytes, found: str, piece: int) -> None:
    done = _run(program, piece, "/bytes/100", told=answer)
    assert (done.stdout, done.stderr) == (found + "\n", "")


def test_what_follows_an_answer_is_left(program: Path) -> None:
    done = _run(program, 1 << 20, "/", told=b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n\0HTTP/1.1")
    assert done.stdout == "whole 200 1 good 8\n"


def test_timers_expire_in_their_order(program: Path) -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    pending: dict[int, int] = {}
    told, expected, time = [], [], 0
    for _ in range(3000):
        if chance.random() < 0.8:
            index, at = chance.randrange(64), chance.choice([-1, *range(time, time + 100)])
            told.append(f"s {index} {at}")
            pending[index] = at
            if at < 0:
                del pending[index]
        else:
            time += chance.randrange(20)
            told.append(f"e {time}")
            due = {index: at for index, at in pending.items() if at <= time}
            pending = {index: at for index, at in pending.items() if at > time}
            expected.append((sorted(due.items(), key=lambda one: one[1]), min(pending.values(), default=-1)))
    lines = _run(program, "timers", told="\n".join(told).encode()).stdout.splitlines()
    assert len(lines) == len(expected), seed
    for line, (order, following) in zip(lines, expected, strict=True):
        *fired, _, after = line.split()
        assert [dict(order)[int(index)] for index in fired] == [moment for _, moment in order], seed
        assert int(after) == following, seed
