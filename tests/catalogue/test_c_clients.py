"""subjects/c, what clients in C share: workloads are read as the contract says, and nothing asked for is ignored."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from h123.paths import project_root

SHARED = project_root() / "subjects/c"
PROGRAM = r"""
#include <stdio.h>
#include "workload.h"
int main(int count, char **words)
{
    (void)count;
    struct workload w = workload_read(words[1]);
    printf("%s|%s|%d|%d|%d|%d|%g|%ld|%lu\n", w.ca, w.path, w.http, w.post, w.connections, w.cold, w.rate,
           (long)w.timeout_ns, (unsigned long)w.seed);
    return 0;
}
"""
WORKLOAD = {
    "h123": "workload/2",
    "kind": "requests",
    "headers": [],
    "protocol": "h2",
    "host": "h123.test",
    "address": "10.1.0.2",
    "port": 4443,
    "ca": "/ca",
    "method": "GET",
    "path": "/bytes/1",
    "upload_bytes": 0,
    "users": 4,
    "requests": 5,
    "rate": None,
    "connections": "shared",
    "cold": True,
    "warmup": 0,
    "timeout_ns": 30_000_000_000,
    "seed": 2**64 - 1,
}

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    (folder / "main.c").write_text(PROGRAM)
    sources = [folder / "main.c", *SHARED.glob("*.c")]
    strict = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    subprocess.run(["cc", *strict, f"-I{SHARED}", "-o", folder / "reader", *sources, "-pthread"], check=True)
    return folder / "reader"


def _read(reader: Path, workload: str) -> "subprocess.CompletedProcess[str]":
    path = reader.with_name("workload.json")
    path.write_text(workload)
    # The programs end without freeing what they have read.
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run([reader, path], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize(
    ("changed", "read"),
    [
        ({}, "/ca|/bytes/1|2|0|1|1|0|30000000000|18446744073709551615"),
        ({"ca": 'a/ö/"\\/💡\t'}, 'a/ö/"\\/💡\t|/bytes/1|2|0|1|1|0|30000000000|18446744073709551615'),
        (
            {"protocol": "h1", "method": "POST", "rate": 12.5, "cold": False, "seed": 7},
            "/ca|/bytes/1|1|1|4|0|12.5|30000000000|7",
        ),
        ({"connections": 3, "seed": 0}, "/ca|/bytes/1|2|0|3|1|0|30000000000|0"),
        ({"connections": "per-user", "seed": 0}, "/ca|/bytes/1|2|0|4|1|0|30000000000|0"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_as_written(reader: Path, changed: dict[str, Any], read: str, indent: int | None) -> None:
    done = _read(reader, json.dumps({**WORKLOAD, **changed}, indent=indent))
    assert (done.returncode, done.stdout) == (0, read + "\n"), done.stderr


@pytest.mark.parametrize(
    ("changed", "status", "said"),
    [
        ({"later": True}, 127, "later is not supported"),
        ({"later": None}, 127, "later is not supported"),
        ({"headers": [{"name": "a]", "value": '"', "changes": False}]}, 127, "headers is not supported"),
        ({"kind": "mix"}, 127, "kind mix is not supported"),
        ({"protocol": "h4"}, 127, "protocol h4 is not supported"),
        ({"users": 0}, 2, "users must be a number from 1"),
        ({"connections": 0}, 2, "connections must be shared, per-user or a number from 1"),
        ({"h123": "workload/3"}, 127, "h123 workload/3 is not supported"),
        ({"ca": ["/ca"]}, 2, "ca must be one value"),
    ],
)
def test_what_it_cannot_do_is_refused(reader: Path, changed: dict[str, Any], status: int, said: str) -> None:
    done = _read(reader, json.dumps({**WORKLOAD, **changed}))
    assert done.returncode == status
    assert said in done.stderr


def test_cut_anywhere_is_refused(reader: Path) -> None:
    whole = json.dumps({**WORKLOAD, "ca": "ö\\"})
    for end in range(0, len(whole), 7):
        assert _read(reader, whole[:end]).returncode == 2


def test_a_missing_field_is_named(reader: Path) -> None:
    done = _read(reader, json.dumps({name: value for name, value in WORKLOAD.items() if name != "seed"}))
    assert (done.returncode, "seed is missing" in done.stderr) == (2, True)
