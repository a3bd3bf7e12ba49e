"""A subject whose verification failed is not measured in silence."""

from pathlib import Path

import pytest

from campaign.scripted import ScriptedEngine, run_scripted
from campaign.test_runner import Silent, start
from cli.conftest import Tool
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.campaign import Cast
from h123.catalogue import catalogue
from h123.cli.campaigns.verification_gate import verification_gate
from h123.documents.campaign_file import Proof
from h123.report import write_report
from h123.report.text.sections import trust
from h123.report.text.trust.unverified_subjects import failed_lines
from h123.verification.record import keep_results
from h123.verification.result import Result
from hasty import NO_PICTURES

ILL = Result(role="server", protocol="h2", check="GET 1000", verdict="failed", detail="other bytes")


@pytest.fixture
def failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded server has failed here."""
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "cache"))
    keep_results(catalogue()["go"], "server", [ILL])


@pytest.mark.usefixtures("failed")
def test_refused_before_anything_is_built(h123: Tool) -> None:
    refusal = h123.refusal("run", "smoke", "--out", "out")
    assert "go failed its verification as a server: 1 check (GET 1000 over h2)" in refusal
    assert "--allow-unverified" in refusal
    assert not (h123.folder / "out").exists()
    planned = h123.succeed("plan", "smoke")
    assert "FAILED their verification on this machine" in planned.stdout


@pytest.mark.usefixtures("failed")
def test_asked_for_by_name() -> None:
    cast: Cast = [("server", catalogue()["go"]), ("client", catalogue()["go"])]
    with pytest.raises(UserError, match="go failed its verification"):
        verification_gate(allow_unverified=False)(cast)
    known = verification_gate(allow_unverified=True)(cast)["go"]
    assert (known["server"]["failed"], known["client"]["outcome"]) == (["GET 1000 over h2"], "none")


def test_measured_all_the_same_it_stands_at_the_top(tmp_path: Path) -> None:
    never: Proof = {"outcome": "none", "upstream": False, "time": None, "failed": [], "first_flight": None}
    ill: Proof = {
        "outcome": "failed",
        "upstream": False,
        "time": "2026-01-01",
        "failed": ["GET 1000 over h2"],
        "first_flight": None,
    }
    campaign = start(tmp_path / "study", vouch=lambda _: {"go": {"server": ill, "client": never}})
    run_scripted(campaign, ScriptedEngine(), Silent())
    verdicts = analyse(campaign.folder)
    (said,) = failed_lines(verdicts)
    assert said.startswith("go failed its verification as a server (GET 1000 over h2) and was measured all the same")
    assert any(line.startswith("never verified") and line.endswith("go as a client") for line in trust(verdicts))
    with NO_PICTURES:
        assert "and was measured all the same" in write_report(campaign.folder).read_text()
