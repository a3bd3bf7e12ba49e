"""What is known of a subject's verification: here first, then upstream, and only of the files that it has."""

from pathlib import Path

import pytest

from catalogue.small import MANIFEST, small, write_small
from h123.base.paths import cache_folder
from h123.catalogue import read_subject
from h123.verification import proof, publish
from h123.verification.constants.findings import Constants, Flight
from h123.verification.record import keep_constants, keep_results
from h123.verification.result import Result

WELL = Result(role="server", protocol="h3", check="GET 1000", verdict="passed")
ILL = WELL.model_copy(update={"verdict": "failed", "detail": "other bytes"})
NOTHING = {"outcome": "none", "upstream": False, "time": None, "failed": [], "first_flight": None}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("H123_ROOT", str(tmp_path))


def test_nobody_has_verified_it(tmp_path: Path) -> None:
    assert proof(small(tmp_path), "server") == {
        "outcome": "none",
        "upstream": False,
        "time": None,
        "failed": [],
        "first_flight": None,
    }


def test_each_role_has_its_own(tmp_path: Path) -> None:
    subject = small(tmp_path)
    record = keep_results(subject, "server", [WELL, ILL])
    known = proof(subject, "server")
    assert known == {
        "outcome": "failed",
        "upstream": False,
        "time": record.time,
        "failed": ["GET 1000 over h3"],
        "first_flight": None,
    }
    assert proof(subject, "client")["outcome"] == "none"
    keep_results(subject, "server", [WELL])
    assert proof(subject, "server")["outcome"] == "passed"


def test_other_files_are_another_subject(tmp_path: Path) -> None:
    keep_results(small(tmp_path), "server", [ILL])
    write_small(tmp_path, MANIFEST.replace("A shell", "Another shell"))
    known = proof(read_subject(tmp_path / "small"), "server")
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
    keep_constants(
        subject, "server", [Constants(role="server", protocol="h3", congestion="cubic", first_flight=flight)]
    )
    assert proof(subject, "server")["first_flight"] == 33
    assert proof(subject, "client")["first_flight"] is None
    write_small(tmp_path, MANIFEST.replace("A shell", "Another shell"))
    assert proof(read_subject(tmp_path / "small"), "server")["first_flight"] is None
