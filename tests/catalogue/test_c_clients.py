"""subjects/c, what clients in C share: workloads are read as the contract says, and nothing asked for is ignored."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from h123.base.paths import project_root

SHARED = project_root() / "subjects/c"
PROGRAM = r"""
#include <stdio.h>
#include "page.h"
#include "workload.h"

static void print_page(const struct workload *w)
{
    const struct page *page = w->page;
    printf("%d|%d|%ld\n", w->connections, page->at_once, (long)page->pause_ns);
    for (const struct resource *r = page->resources; r < page->resources + page->resource_count; r++) {
        printf("%s|%s|%d|%ld|", page->hosts[r->host], r->path, r->urgency, (long)r->run_ns);
        for (int i = 0; i < r->header_count; i++) {
            printf("%s: %s", r->headers[i].name, r->headers[i].value);
        }
        printf("|");
        for (int asked = r->first_asked; asked; asked = page->resources[asked].next_asked) {
            printf(" %d", asked);
        }
        printf("\n");
    }
}

int main(int count, char **words)
{
    struct workload w = (count == 3 ? workload_read_with_pages : workload_read)(words[1]);
    if (w.page) {
        print_page(&w);
        return 0;
    }
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
"""Requests as every client of the catalogue reads them."""
REQUEST = ("method", "path", "upload_bytes")


def _resource(path: str, initiator: int | None, **changed: Any) -> dict[str, Any]:
    headers = [{"name": "priority", "value": "u=1", "changes": False}]
    return {"path": path, "headers": headers, "initiator": initiator, "urgency": 1, "run_ns": 5, **changed}


def _page(*resources: dict[str, Any], **changed: Any) -> str:
    plain = {name: value for name, value in WORKLOAD.items() if name not in REQUEST}
    return json.dumps({**plain, "kind": "page", "connections": 6, "at_once": 1, "page": resources, **changed})


FIRST = _resource("/", None)

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    (folder / "main.c").write_text(PROGRAM)
    return compiled(folder / "reader", [folder / "main.c", *SHARED.glob("*.c")])


def compiled(program: Path, sources: Sequence[Path], *included: Path) -> Path:
    """The program, made of sources that may include headers of subjects/c; no warning is passed over."""
    strict = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-pthread"]
    folders = [f"-I{folder}" for folder in (SHARED, *included)]
    subprocess.run(["cc", *strict, *folders, "-o", program, *sources], check=True)
    return program


def _read(reader: Path, workload: str, *with_pages: str) -> "subprocess.CompletedProcess[str]":
    path = reader.with_name("workload.json")
    path.write_text(workload)
    # The programs end without freeing what they have read.
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run([reader, path, *with_pages], capture_output=True, text=True, env=environment)


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


def test_a_page_as_written(reader: Path) -> None:
    elsewhere = {"host": "b.h123.test", "headers": [], "urgency": 3, "run_ns": 0}
    resources = [FIRST, _resource("/a", 0, **elsewhere), _resource("/b", 1, host="h123.test"), _resource("/c", 0)]
    done = _read(reader, _page(*resources, pause_ns=9), "with pages")
    assert done.stdout.splitlines() == [
        "6|1|9",
        "h123.test|/|1|5|priority: u=1| 1 3",
        "b.h123.test|/a|3|0|| 2",
        "h123.test|/b|1|5|priority: u=1|",
        "h123.test|/c|1|5|priority: u=1|",
    ], done.stderr


@pytest.mark.parametrize(
    ("page", "status", "said"),
    [
        (_page(), 2, "page must have a document"),
        (_page(_resource("/", 0)), 2, "initiator must be null of the first"),
        (_page(FIRST, FIRST), 2, "page[1]: initiator must be null of the first"),
        (_page(FIRST, _resource("/a", 2)), 2, "page[1]: initiator must be an index of page"),
        (_page(FIRST, _resource("/a", 2), _resource("/b", 1)), 2, "page[1]: initiator must lead to the first"),
        (_page(FIRST, at_once=0), 2, "at_once must be a number from 1"),
        (_page(FIRST, connections="shared"), 2, "connections must be a number from 1 with the kind page"),
        (_page(FIRST, rate=5.0), 2, "rate must be null"),
        (_page(FIRST, pause_ns=0), 2, "pause_ns must be a whole number from 1"),
        (_page(FIRST, pause_ns=None), 127, "pause_ns is not supported"),
        (_page(_resource("/", None, run_ns=-1)), 2, "page[0]: run_ns must be"),
        (_page(_resource("/", None, host=None)), 127, "page[0]: host is not supported"),
        (_page(_resource("/", None, hue=1)), 127, "page[0]: hue is not supported"),
        (
            _page(_resource("/", None, headers=[{"name": "a", "value": "0" * 12, "changes": True}])),
            127,
            "page[0]: headers[0]: a page's header that changes is not supported",
        ),
        (_page(FIRST, visit="repeat"), 127, "visit is not supported"),
        (_page(FIRST, method="GET"), 127, "method is not supported"),
    ],
)
def test_a_page_that_cannot_be_visited_is_refused(reader: Path, page: str, status: int, said: str) -> None:
    done = _read(reader, page, "with pages")
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr


def test_pages_are_refused_by_those_who_visit_none(reader: Path) -> None:
    done = _read(reader, _page(FIRST))
    assert (done.returncode, "kind page is not supported" in done.stderr) == (127, True)
