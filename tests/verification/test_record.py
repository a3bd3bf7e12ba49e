"""What was verified is remembered for as long as the subject's files stay as they are."""

from pathlib import Path

import pytest

from catalogue.small import MANIFEST, small, write_small
from h123.catalogue import read_subject
from h123.verification.constants.findings import Constants, Flight
from h123.verification.migration import MoveResult
from h123.verification.record import failures_folder, keep_measured, keep_moves, keep_results, read_record
from h123.verification.result import Result

WELL = Result(role="server", protocol="h3", check="GET 1", verdict="passed")
ILL = Result(role="client", protocol="h1", check="404", verdict="failed", detail="status 200")


pytestmark = pytest.mark.usefixtures("cache")


def test_what_was_never_verified_has_no_record(tmp_path: Path) -> None:
    assert read_record(small(tmp_path)) is None


def test_roles_are_verified_apart(tmp_path: Path) -> None:
    subject = small(tmp_path)
    assert keep_results(subject, "server", [WELL]).passed
    assert not keep_results(subject, "client", [ILL]).passed
    record = read_record(subject)
    assert record is not None
    assert record.of_role("server") == [WELL]
    assert record.of_role("client") == [ILL]
    keep_results(subject, "client", [])
    record = read_record(subject)
    assert record is not None
    assert record.results == [WELL]
    assert (record.subject, record.version) == ("small", "1")


def test_a_record_does_not_outlive_what_it_is_about(tmp_path: Path) -> None:
    keep_results(small(tmp_path), "server", [WELL])
    write_small(tmp_path, MANIFEST.replace('h3 = ["cubic", "reno"]', 'h3 = ["cubic", "bbr"]'))
    assert read_record(read_subject(tmp_path / "small")) is None


def test_constants_stand_beside_the_results(tmp_path: Path) -> None:
    subject = small(tmp_path)
    seen = Constants(
        role="server", protocol="h3", congestion="cubic", first_flight=Flight(packets=10, full=9, bytes=1, spread=0)
    )
    assert not keep_measured(subject, "server", "constants", [seen])  # the subject has no results
    assert keep_results(subject, "server", [WELL]).constants is None
    assert keep_measured(subject, "server", "constants", [seen])
    assert keep_measured(subject, "client", "constants", [seen.model_copy(update={"role": "client"})])
    assert keep_measured(subject, "server", "constants", [seen.model_copy(update={"protocol": "h1"})])
    record = keep_results(subject, "client", [ILL])
    assert record.constants is not None
    assert {(one.role, one.protocol) for one in record.constants} == {("client", "h3"), ("server", "h1")}
    assert record == read_record(subject)


def test_so_does_what_it_makes_of_clients_that_move(tmp_path: Path) -> None:
    subject, seen = small(tmp_path), MoveResult(clock="virtual", new="port", survived=True, answered=0.0, flowed=0.06)
    assert not keep_moves(subject, [seen])
    assert keep_results(subject, "server", [WELL]).moves is None
    assert keep_moves(subject, [seen])
    record = keep_results(subject, "client", [ILL])
    assert record.moves == [seen]
    assert record == read_record(subject)


def test_a_record_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL])
    (tmp_path / "cache/verified/small.json").write_text('{"h123": "verified/9"}')
    assert read_record(subject) is None


def test_failures_of_the_last_time_go_when_there_are_new_results(tmp_path: Path) -> None:
    subject = small(tmp_path)
    old, of_the_client = failures_folder(subject, "server"), failures_folder(subject, "client")
    keep_results(subject, "server", [ILL])
    new = failures_folder(subject, "server")
    assert old.is_dir()
    keep_results(subject, "server", [ILL])
    assert new.is_dir()
    assert of_the_client.is_dir()
    assert not old.exists()
