"""What is published is what was verified, without anything of the machine's own places."""

import json
import lzma
from pathlib import Path

import pytest

from catalogue.small import change_small, small
from h123.base.errors import UserError
from h123.catalogue import install
from h123.verification.constants.findings import Constants
from h123.verification.proof import proof
from h123.verification.public_record import begin_record, has_news, public_file, public_records, publish
from h123.verification.record import keep_measured, keep_results, read_record
from h123.verification.result import Result

pytestmark = pytest.mark.usefixtures("project")
WELL = Result(role="server", protocol="h3", check="TLS", verdict="passed", detail="1.3, X25519")
SEEN = Constants(role="server", protocol="h3", congestion="cubic")


def _text() -> str:
    return lzma.decompress(public_file().read_bytes()).decode()


def _put(text: str) -> None:
    public_file().write_bytes(lzma.compress(text.encode()))


def test_what_is_not_verified_is_not_published(tmp_path: Path) -> None:
    assert not publish(small(tmp_path))
    assert public_records() == {}


def test_published_as_verified(tmp_path: Path) -> None:
    subject = small(tmp_path)
    install(subject, print)
    record = keep_results(subject, "server", [WELL])
    assert publish(subject)
    published = public_records()["small"]
    assert published.record.results == [WELL]
    assert (published.record.time, published.record.fingerprint) == (record.time, record.fingerprint)
    assert published.bytes
    assert published.seconds is not None
    assert published.holds_for(subject)
    assert not published.holds_for(change_small(tmp_path))


def test_news_are_what_is_newer_or_says_something_else(tmp_path: Path) -> None:
    subject = small(tmp_path)
    assert not has_news(subject)
    keep_results(subject, "server", [WELL.model_copy(update={"detail": f"see {tmp_path}/x"})])
    assert has_news(subject)
    publish(subject)
    assert not has_news(subject), "what concerns this machine alone is none"
    keep_measured(subject, "server", "constants", [SEEN])
    assert has_news(subject), "measured since, which the record's time does not tell"
    publish(subject)
    assert not has_news(subject)
    published = json.loads(_text())
    for time, news in (("2001-02-03T04:05:06+00:00", True), ("2101-02-03T04:05:06+00:00", False)):
        published["small"]["record"]["time"] = time
        _put(json.dumps(published))
        assert has_news(subject) is news, time
    published["small"]["record"]["fingerprint"] = "of other files"
    _put(json.dumps(published))
    assert has_news(subject)


def test_a_line_a_result(tmp_path: Path) -> None:
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL, WELL.model_copy(update={"check": "HEAD", "detail": ""})])
    publish(subject)
    lines = _text().splitlines()
    assert '   {"role": "server", "protocol": "h3", "check": "HEAD", "verdict": "passed"}' in lines


def test_constants_are_published_in_a_line_a_protocol(tmp_path: Path) -> None:
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL])
    publish(subject)
    assert public_records()["small"].record.constants is None
    seen = SEEN.model_copy(update={"unknown": {"decrease": f"see ({tmp_path}/x)"}})
    keep_measured(subject, "server", "constants", [seen, seen.model_copy(update={"protocol": "h2"})])
    publish(subject)
    constants = public_records()["small"].record.constants
    assert constants is not None
    assert [(one.protocol, one.unknown) for one in constants] == [
        ("h3", {"decrease": "see"}),
        ("h2", {"decrease": "see"}),
    ]
    lines = _text().splitlines()
    assert len([line for line in lines if '"congestion": "cubic"' in line]) == 2


def test_what_was_measured_elsewhere_alone_stays_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL])
    keep_measured(subject, "server", "constants", [SEEN])
    publish(subject)
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "another machine's"))
    keep_results(subject, "server", [WELL.model_copy(update={"detail": "1.3"})])
    publish(subject)
    published = public_records()["small"].record
    assert published.results[0].detail == "1.3"
    assert [one.congestion for one in published.constants or []] == ["cubic"]
    assert not has_news(subject)
    other = change_small(tmp_path)
    keep_results(other, "server", [WELL])
    publish(other)
    assert public_records()["small"].record.constants is None, "of other files"


def test_measurements_are_added_to_what_the_project_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL])
    install(subject, lambda _: None)
    publish(subject)
    assert not proof(subject, "server")["upstream"]
    installed = public_records()["small"].seconds
    assert installed is not None
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "another machine's"))
    assert not keep_measured(subject, "server", "constants", [SEEN])
    begin_record(subject)
    assert keep_measured(subject, "server", "constants", [SEEN])
    begin_record(subject)
    known = proof(subject, "server")
    assert (known["outcome"], known["upstream"]) == ("passed", True)
    publish(subject)
    public = public_records()["small"].record
    assert (public.results, public.constants, public_records()["small"].seconds) == ([WELL], [SEEN], installed)
    other = change_small(tmp_path)
    begin_record(other)
    assert read_record(other) is None


def test_no_place_of_this_machine_is_told(tmp_path: Path) -> None:
    detail = (
        f"status 1: cannot open {tmp_path}/cache/subjects/small/x or {tmp_path}/y ({tmp_path}/cache/verified/small)"
    )
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL.model_copy(update={"verdict": "failed", "detail": detail})])
    publish(subject)
    text = _text()
    assert str(tmp_path) not in text
    assert (
        public_records()["small"].record.results[0].detail
        == "status 1: cannot open CACHE/subjects/small/x or PROJECT/y"
    )
    assert set(public_records()["small"].record.machine) == {"cpus_usable", "cpu", "distribution", "kernel"}


def test_a_file_of_another_format_is_refused() -> None:
    public_file().parent.mkdir(parents=True)
    _put('{"small": {}}')
    with pytest.raises(UserError) as refused:
        public_records()
    said = "small is not of the format published-verification/1: `seconds` is missing"
    assert refused.value.message == f"{public_file()}: {said}"


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    subject = small(tmp_path)
    keep_results(subject, "server", [WELL])
    publish(subject)
    file = public_file()
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(UserError, match=r"records\.json\.xz is damaged: "):
        public_records()
