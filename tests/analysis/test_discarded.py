"""Files that went with the lab are said in the answer, and fail no audit."""

import pytest

from analysis.test_audits import CHECKS, report
from h123.analysis.gathering import gather
from h123.analysis.provenance.discarded_files import CODE, discarded
from h123.report.text.trust.completeness import discarded_lines
from synthetic import Scenario, make_campaign


def test_files_that_a_server_wrote_are_named_once_for_all_its_trials(tmp_path_factory: pytest.TempPathFactory) -> None:
    attempts = gather(make_campaign(tmp_path_factory.mktemp("c") / "c", Scenario(blocks=2))).trials.attempts
    assert discarded(attempts) == discarded_lines({}) == []
    remark = {"code": CODE, "detail": "written only in the lab, and discarded with it: /etc/x, /var/log/y"}
    written = [report(lambda r: r.update(warnings=[remark]))(attempt) for attempt in attempts[:3]]
    rows = discarded([*written, *attempts[3:]])
    assert sum(row["trials"] for row in rows) == 3
    lines = discarded_lines({"discarded": rows})
    assert all("/etc/x, /var/log/y" in line and "nothing changed on this machine" in line for line in lines)
    assert all((finding := CHECKS["lab-warned"](attempt)) and finding.passed for attempt in written)
