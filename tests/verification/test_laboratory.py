"""What is made of the transfers behind the constants; on an engine without namespaces or time."""

import os
from pathlib import Path

import pytest

from campaign.scripted import ScriptedEngine
from catalogue.small import MANIFEST, small
from h123.catalogue import DEFAULT_CONGESTION, catalogue
from h123.documents.campaign_file import VerifiedRole
from h123.execution import LocalPool
from h123.execution.certificate import campaign_certificate
from h123.study.networks.network import Blackout, Loss
from h123.verification.constants.experiment import BodyTransfer, Laboratory, SenderCase, short, without_its_tail
from h123.verification.constants.findings import NotMeasurable
from h123.verification.constants.recovery import TailPacket
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


@pytest.mark.parametrize("role", ["server", "client"])
def test_the_receiver_is_silent_once_the_tail_is_lost(role: VerifiedRole) -> None:
    """If both ends' timers expire together, retransmissions look like answers, as with s2n-quic over a link of 2 ms."""
    whole = short(SenderCase(catalogue()["go"], role, "h3", DEFAULT_CONGESTION), 2_000_000)
    network = without_its_tail(whole, TailPacket(index=9, at_ns=13_000_000)).network
    sends, answers = (network.down, network.up) if role == "server" else (network.up, network.down)
    assert sends is not None
    assert answers is not None
    assert sends.loss == Loss(packets=list(range(9, 21)))
    assert (sends.blackouts, answers.loss) == (None, None)
    # Its acknowledgements, which are sent 1 ms after the tail, still arrive.
    assert answers.blackouts == [Blackout(from_ns=14_500_000, to_ns=2_014_500_000)]
