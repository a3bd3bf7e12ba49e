"""What is made of the transfers behind the constants; on an engine without namespaces or time."""

import os
from pathlib import Path

from campaign.scripted import ScriptedEngine
from catalogue.small import MANIFEST, small
from h123.catalogue import DEFAULT_CONGESTION, catalogue
from h123.execution import LocalPool
from h123.execution.certificate import campaign_certificate
from h123.verification.constants.experiment import BodyTransfer, Laboratory, SenderCase
from h123.verification.constants.findings import NotMeasurable
from h123.verification.trial import Trials

SPINS = {"code": "time-stalled", "detail": "virtual time crawls"}


def test_what_spins_is_tried_once_and_not_in_every_transfer(tmp_path: Path) -> None:
    subject = small(tmp_path / "subjects", manifest=MANIFEST + 'clocks = ["wall", "virtual"]\n')
    engine = ScriptedEngine(lambda *_: [SPINS])
    trials = Trials(
        {"small": subject, "go": catalogue()["go"]},
        campaign_certificate(tmp_path / "tls", ["10.1.0.2"]),
        LocalPool(engine=engine),
    )
    asked = {
        protocol: SenderCase(subject, "server", protocol, DEFAULT_CONGESTION, clock="virtual")
        for protocol in ("h2", "h3")
    }
    bodies = [BodyTransfer(f"transfer-{n}", asked["h3"], "GET", 6_000) for n in range(20)]
    other = BodyTransfer("another", asked["h2"], "GET", 6_000)
    found = dict(Laboratory(trials, tmp_path).transfers([*bodies, other]))
    assert set(found) == {*bodies, other}
    for came in found.values():
        assert isinstance(came, NotMeasurable)
        assert str(came) == "time-stalled: virtual time crawls"
    # The first, those that were under way beside it, and the one of another kind.
    assert [name for name, _ in engine.ran][-1] == "another"
    assert len(engine.ran) == min(len(os.sched_getaffinity(0)), len(bodies)) + 1
