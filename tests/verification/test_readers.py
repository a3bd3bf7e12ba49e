"""One contract for all who read workloads: what asks for something unknown is refused, and never passed over.

Held against the embedded client, and against every other one that is installed (`pytest -m heavy -rs` names the rest).
"""

import contextlib
import csv
import itertools
import json
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from h123.base.roots import mounted
from h123.catalogue import (
    DEFAULT_CONGESTION,
    Subject,
    catalogue,
    command_line,
    controller,
    installation,
    prefix,
    settings,
)
from h123.execution import campaign_certificate
from h123.execution.certificate import HOST_NAME
from h123.store.columns import COLUMNS, RETRIED_COLUMNS
from h123.study import Parameters
from h123.study.workload import KINDS, Target
from h123.verification.client_cases import CHANGING, client_parameters

ABSENT: Any = object()
HEADER = [{"name": "x-h123", "value": "1", "changes": False}]
REFUSED: list[tuple[Mapping[str, Any], str]] = [
    ({"h123": "workload/1"}, "workload/"),
    ({"h123": "workload/3"}, "workload/"),
    ({"kind": "fax"}, "kind"),
    ({"kind": ABSENT}, "kind"),
    ({"colour": "blue"}, "colour"),
    ({"colour": None}, "colour"),
    ({"colour": False}, "colour"),
    ({"protocol": "h9"}, "h9"),
]
"""Changes to a workload that can be carried out, and what is named where they are refused with status 127."""
BAD: list[Mapping[str, Any]] = [{"users": ABSENT}, {"host": ABSENT}]
"""And those after which it is none."""
WAIT_S = 120

CLIENTS = [
    pytest.param(name, marks=() if subject.install.embedded else pytest.mark.heavy)
    for name, subject in catalogue().items()
    if subject.client
]


class Reader:
    """An installed client, and a server's address at which nobody listens."""

    seed = 7

    def __init__(self, subject: Subject, folder: Path) -> None:
        assert subject.client
        self.subject, self.client, self.folder = subject, subject.client, folder
        self._ca = campaign_certificate(folder / "tls", ["127.0.0.1"]).ca

    def parameters(self, **values: Any) -> Parameters:
        usual = {"protocol": self.client.protocols[0], "requests": 2, "timeout": "2s", "cold": False, **values}
        return client_parameters(self.subject, self.client, **usual)

    def document(self, parameters: Parameters) -> dict[str, Any]:
        with contextlib.closing(socket.socket()) as closed:
            closed.bind(("127.0.0.1", 0))
            target = Target(HOST_NAME, "127.0.0.1", closed.getsockname()[1], str(self._ca), self.seed)
        return parameters.workload.file(target).model_dump(mode="json", exclude_unset=True)

    def run(self, document: Mapping[str, Any]) -> "subprocess.CompletedProcess[str]":
        (self.folder / "workload.json").write_text(json.dumps(document))
        p = self.parameters(congestion=DEFAULT_CONGESTION)
        places = {"workload": "workload.json", "samples": "samples.csv", "facts": "client.json"}
        command = command_line(self.subject, "client", **places, congestion=controller(self.subject, p), **settings(p))
        # Outside of a lab the subjects are where the cache has them.
        root, place = mounted("subjects"), str(prefix(self.subject).parent)
        command = [word.replace(root, place) for word in command]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=WAIT_S, check=False)

    def rows(self, document: Mapping[str, Any]) -> list[dict[str, str]]:
        """Carry the workload out, and return the samples."""
        done = self.run(document)
        assert done.returncode == 0, done.stderr
        with (self.folder / "samples.csv").open() as file:
            return list(csv.DictReader(file))

    def refuses(self, document: Mapping[str, Any], named: str) -> None:
        done = self.run({name: value for name, value in document.items() if value is not ABSENT})
        assert done.returncode == 127, (named, done.stderr)
        assert named in done.stderr
        assert "Traceback" not in done.stderr


@pytest.fixture(params=CLIENTS)
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> Reader:
    subject = catalogue()[request.param]
    if installation(subject) is None:
        pytest.skip(f"{subject.name} is not installed")
    return Reader(subject, tmp_path)


def test_what_is_unknown_is_refused(reader: Reader) -> None:
    document = reader.document(reader.parameters())
    for change, named in REFUSED:
        reader.refuses({**document, **change}, named)


def test_what_is_no_workload_is_bad_input(reader: Reader) -> None:
    document = reader.document(reader.parameters())
    for change in BAD:
        whole = {name: value for name, value in {**document, **change}.items() if value is not ABSENT}
        assert reader.run(whole).returncode == 2, change


def test_only_declared_kinds_are_carried_out(reader: Reader) -> None:
    for kind in KINDS:
        asked = reader.parameters(kind=kind, **KINDS[kind].example(reader.client.methods, reader.client.documents))
        if kind not in reader.client.kinds:
            reader.refuses(reader.document(asked), "kind")
            continue
        rows = reader.rows(reader.document(asked))
        assert list(rows[0]) == COLUMNS
        assert len(rows) == asked.workload.all_requests()  # requests that failed are rows


def test_only_declared_sessions_are_asked_for(reader: Reader) -> None:
    """Of a server that is not there, so that none is resumed: but who declares them has tried."""
    for protocol in reader.client.protocols:
        usual = reader.document(reader.parameters(protocol=protocol, method="GET", cold=True, timeout="500ms"))
        for sessions in ("resumed", "early", "half"):
            document = {**usual, "sessions": sessions}
            if protocol in {**reader.client.sessions}.get(sessions, []):
                done = reader.run(document)
                assert (done.returncode, "earn a session" in done.stderr) == (1, True), done.stderr
            else:
                reader.refuses(document, "sessions")


def test_requests_count_from_when_they_are_due(reader: Reader) -> None:
    """Of a server that is not there: every client that can be told has the same starts, to the nanosecond."""
    asked = reader.parameters(users=2, requests=60, warmup=1, arrivals=CHANGING, timeout="500ms")
    document = reader.document(asked)
    if not reader.client.arrivals:
        reader.refuses(document, "gaps_ns")
        return
    starts = sorted(int(row["start_ns"]) for row in reader.rows(document))
    assert asked.arrivals
    due = asked.arrivals.due(reader.seed, 122)
    assert [at - starts[0] for at in starts] == [at - due[0] for at in due]


def test_requests_are_on_the_connections_that_they_are_dealt_to(reader: Reader) -> None:
    """Of a server that is not there: each is due as of its own connection, whichever it is."""
    each = {**CHANGING, "per": "connection"}
    asked = reader.parameters(users=2, requests=60, connections="per-user", arrivals=each, timeout="500ms")
    document = reader.document(asked)
    if not reader.client.arrivals:
        pytest.skip(f"{reader.subject.name} refuses gaps_ns already")
    if not reader.client.per_connection:
        reader.refuses(document, "dealt_to")
        return
    starts = sorted(int(row["start_ns"]) for row in reader.rows(document))
    assert asked.arrivals
    due = [at for at, _ in asked.arrivals.dealt(reader.seed, 120, 2)]
    assert [at - starts[0] for at in starts] == [at - due[0] for at in due]
    assert reader.run({**document, "dealt_to": [2] * 120}).returncode == 2


def test_only_those_who_can_are_told_to_abandon(reader: Reader) -> None:
    """Of a server that is not there: what is refused before its user leaves has failed, and is not abandoned."""
    asked = reader.parameters(requests=8, warmup=1, timeout="900ms", abandon={"share": 0.5, "after": "400ms"})
    document = reader.document(asked)
    if not reader.client.abandons:
        reader.refuses(document, "abandon")
        return
    rows = sorted(reader.rows(document), key=lambda row: int(row["start_ns"]))
    leaving = [number for number, row in enumerate(rows) if row["phase"] == "leaving"]
    assert leaving == document["abandoned"]
    for change in ({"abandoned": [99]}, {"abandoned": leaving[::-1]}, {"abandon_ns": document["timeout_ns"]}):
        assert reader.run({**document, **change}).returncode == 2, change


def test_only_those_who_can_are_told_to_make_requests_again(reader: Reader) -> None:
    """Of a server that is not there: who is refused asks again when it is time, and not before."""
    retry = {"after": "200ms", "at_most": 2}
    asked = reader.parameters(requests=2, warmup=1, timeout="900ms", cold=reader.client.cold, retry=retry)
    document = reader.document(asked)
    if not reader.client.retries:
        reader.refuses(document, "retr")
        return
    rows = reader.rows(document)
    assert list(rows[0]) == RETRIED_COLUMNS
    assert {(row["phase"], row["tries"]) for row in rows} == {("cold", "1"), ("warmup", "3"), ("warm", "3")}
    for row in rows:
        took = int(row["end_ns"]) - int(row["start_ns"])
        assert (took >= 2 * document["retry_ns"]) == (row["phase"] != "cold"), row
    for change in ({"retries": 0}, {"retries": 101}, {"retry_ns": document["timeout_ns"]}, {"retry_ns": 0}):
        assert reader.run({**document, **change}).returncode == 2, change


def test_a_page_has_nothing_that_is_passed_over(reader: Reader) -> None:
    """Of a server that is not there. A browser knows no hosts: it would join its connections to them."""
    if "page" not in reader.client.kinds:
        pytest.skip(f"{reader.subject.name} refuses the kind already")
    asked = reader.parameters(
        kind="page", cold=True, **KINDS["page"].example(reader.client.methods, reader.client.documents)
    )
    document = reader.document(asked)
    reader.refuses(_changed(document, colour="blue"), "colour")
    if reader.client.documents:
        reader.refuses(_changed(document, host=f"b.{HOST_NAME}"), "host")
        return
    done = reader.run(_changed(document, host=f"b.{HOST_NAME}"))
    assert done.returncode == 0, done.stderr


def _changed(document: Mapping[str, Any], **of_resources: str) -> Mapping[str, Any]:
    """A page whose resources, but the first, have more."""
    first, *others = document["page"]
    return {**document, "page": [first, *({**one, **of_resources} for one in others)]}


def test_visits_are_as_far_apart_as_they_are_to_be(reader: Reader) -> None:
    """Of a server that is not there, so that each visit is over soon."""
    if "page" not in reader.client.kinds:
        pytest.skip(f"{reader.subject.name} refuses the kind already")
    example = KINDS["page"].example(reader.client.methods, reader.client.documents)
    asked = reader.parameters(kind="page", cold=True, requests=3, pause="300ms", **example)
    rows = reader.rows(reader.document(asked))
    visits = [[row for row in rows if row["group"] == str(n)] for n in range(3)]
    for before, after in itertools.pairwise(visits):
        ended = max(int(row["end_ns"]) for row in before)
        assert min(int(row["start_ns"]) for row in after) - ended >= asked.pause


def test_headers_are_refused_by_those_who_do_not_send_them(reader: Reader) -> None:
    document = {**reader.document(reader.parameters()), "headers": HEADER}
    if reader.client.headers:
        assert reader.run(document).returncode == 0
    else:
        reader.refuses(document, "headers")
