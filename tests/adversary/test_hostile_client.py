"""Whatever a client does to a server, the trial ends in time and is recorded, with a sentence where it failed."""

from pathlib import Path

import pytest

from adversary.trial import Attack, assaulted, assaults_on
from h123.catalogue import Subject, catalogue, install, installed
from h123.execution.certificate import Certificate

WORST = {"h1": ["slowloris"], "h2": ["rapid-reset", "huge-headers", "unread"], "h3": ["handshake-flood", "garbage"]}


def _faults(server: Subject, assaults: list[Attack], folder: Path, certificate: Certificate) -> dict[str, list[str]]:
    """What came of the assaults that must not."""
    outcomes = assaulted(server, assaults, folder, certificate)
    return {str(assault): outcome.faults for assault, outcome in outcomes.items() if outcome.faults}


def test_the_embedded_server_bears_the_worst(tmp_path: Path, certificate: Certificate) -> None:
    go = catalogue()["go"]
    install(go, print)
    chosen = [assault for assault in assaults_on(go) if assault.name in WORST[assault.protocol]]
    assert len(chosen) == sum(map(len, WORST.values()))
    assert _faults(go, chosen, tmp_path, certificate) == {}


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name, subject in catalogue().items() if subject.server])
def test_every_assault_on_every_server_ends(name: str, tmp_path: Path, certificate: Certificate) -> None:
    server = catalogue()[name]
    if not installed(server):
        pytest.skip("not installed")
    assert _faults(server, assaults_on(server), tmp_path, certificate) == {}
