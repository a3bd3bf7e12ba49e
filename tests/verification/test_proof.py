"""What is known of a subject's verification: here first, then upstream, and only of the files that it has."""

from pathlib import Path

import pytest

from catalogue.small import change_small, small
from h123.base.paths import cache_folder
from h123.verification import proof, publish
from h123.verification.constants.findings import Constants, Flight
from h123.verification.paths import PathBehaviour
from h123.verification.paths.findings import Limited, Payloads, Spoilt
from h123.verification.record import keep_measured, keep_results
from h123.verification.result import Result

pytestmark = pytest.mark.usefixtures("project")
WELL = Result(role="server", protocol="h3", check="GET 1000", verdict="passed")
ILL = WELL.model_copy(update={"verdict": "failed", "detail": "other bytes"})
NOTHING = {"outcome": "none", "upstream": False, "time": None, "failed": [], "first_flight": None, "paths": None}


def test_nobody_has_verified_it(tmp_path: Path) -> None:
    assert proof(small(tmp_path), "server") == NOTHING


def test_each_role_has_its_own(tmp_path: Path) -> None:
    subject = small(tmp_path)
    record = keep_results(subject, "server", [WELL, ILL])
    known = proof(subject, "server")
    assert known == {**NOTHING, "outcome": "failed", "time": record.time, "failed": ["GET 1000 over h3"]}
    assert proof(subject, "client")["outcome"] == "none"
    keep_results(subject, "server", [WELL])
    assert proof(subject, "server")["outcome"] == "passed"


def test_other_files_are_another_subject(tmp_path: Path) -> None:
    keep_results(small(tmp_path), "server", [ILL])
    known = proof(change_small(tmp_path), "server")
    assert (known["outcome"], known["failed"]) == ("changed", [])


def test_what_the_project_tells_holds_where_this_machine_knows_nothing_newer(tmp_path: Path) -> None:
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL])
    publish(subject)
    (cache_folder() / "verified/small.json").unlink()
    known = proof(subject, "server")
    assert known == {**NOTHING, "outcome": "passed", "upstream": True, "time": known["time"]}
    keep_results(subject, "server", [ILL])
    assert (proof(subject, "server")["outcome"], proof(subject, "server")["upstream"]) == ("failed", False)


def test_the_first_flight_is_that_of_these_files(tmp_path: Path) -> None:
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL])
    flight = Flight(packets=33, full=32, bytes=40_000, spread=0.0)
    keep_measured(
        subject,
        "server",
        "constants",
        [Constants(role="server", protocol="h3", congestion="cubic", first_flight=flight)],
    )
    assert proof(subject, "server")["first_flight"] == 33
    assert proof(subject, "client")["first_flight"] is None
    assert proof(change_small(tmp_path), "server")["first_flight"] is None


def test_faults_on_adverse_paths_are_the_senders_own(tmp_path: Path) -> None:
    subject, keeps = small(tmp_path), Spoilt(ect=900, complete=True)
    keep_results(subject, "server", [WELL])
    assert proof(subject, "server")["paths"] is None
    found = PathBehaviour(
        role="server",
        clock="wall",
        ect="ect0",
        datagrams=Payloads(first=1200, common=1452, largest=1452),
        bleach=keeps,
        swap=Spoilt(ect=10, stopped=0.1, complete=True),
        mark=keeps,
        drop=keeps.model_copy(update={"complete": False}),
        small=Limited(too_large=9, complete=False),
        icmp=Limited(too_large=9, complete=True),
    )
    keep_measured(subject, "server", "paths", [found.model_copy(update={"protocol": "h2", "drop": None}), found])
    publish(subject)
    keep_results(subject, "server", [WELL])
    known = proof(subject, "server")["paths"]
    assert known is not None
    assert known["packet_bytes"] == 1480
    assert known["faults"] == {
        "bleach": "went on using ECN on a path that clears it",
        "drop": "did not deliver 4 MB in 30 s on a path that drops packets with ECT",
        "small": "did not deliver 4 MB in 30 s over an MTU of 1280",
    }
    assert proof(subject, "client")["paths"] is None
    (cache_folder() / "verified/small.json").unlink()
    keep_results(subject, "server", [WELL])
    assert proof(subject, "server")["paths"] == known, "measured elsewhere with the same files"
