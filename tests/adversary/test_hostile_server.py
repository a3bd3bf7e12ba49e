"""No attack by a server outlasts a client's timeouts, fills the machine's memory, or passes for an answer."""

from pathlib import Path

import pytest

from adversary.trial import Attack, attacked, attacks_on
from h123.catalogue import Subject, catalogue, install, installed
from h123.execution.certificate import Certificate

WORST = {
    "h1": ["endless-trailers", "endless-1xx", "switching", "endless-body", "length-too-small", "gzip-bomb"],
    "h2": [
        "endless-headers",
        "endless-body",
        "half",
        "wrong-byte",
        "hpack-bomb",
        "settings-flood",
        "priority-flood",
        "window-zero",
    ],
    "h3": ["endless-headers", "endless-1xx", "endless-body", "zeros", "cut", "qpack-inserts", "mute"],
}
"""What `make test` asks of the embedded client."""
KNOWN = {
    # Knows no size but the announced one.
    "autocannon": {"length-missing-h1", "length-negative-h1"},
    # Compares a body with the announced size only over HTTP/1.1.
    "chromium": {f"length-too-{how}-{protocol}" for how in ("large", "small") for protocol in ("h2", "h3")},
    # Takes a body that is shorter than announced for whole, hangs in floods of frames, keeps all SETTINGS.
    "firefox": {f"length-too-large-{protocol}" for protocol in ("h2", "h3")}
    | {f"{of}-flood-h2" for of in ("ping", "priority", "reset", "settings", "window")}
    | {"endless-1xx-h2", "endless-settings-h3"},
    # h3 takes a DATA frame of no bytes for the end of the body.
    "quinn": {"empty-data-h3"},
}
"""What clients made of other people's parts do not bound or tell. Their trials or their rows fail all the same."""


WRONG_BYTES = {"zeros", "wrong-byte"}
"""What clients that only count bytes cannot see."""


def _faults(client: Subject, attacks: list[Attack], folder: Path, certificate: Certificate) -> dict[str, list[str]]:
    """What came of the attacks that must not."""
    outcomes = attacked(client, attacks, folder, certificate)
    return {str(attack): outcome.faults for attack, outcome in outcomes.items() if outcome.faults}


def test_the_embedded_client_bears_the_worst(tmp_path: Path, certificate: Certificate) -> None:
    go = catalogue()["go"]
    install(go, print)
    chosen = [attack for attack in attacks_on(go) if attack.name in WORST[attack.protocol]]
    assert len(chosen) == sum(map(len, WORST.values()))
    assert _faults(go, chosen, tmp_path, certificate) == {}


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name, subject in catalogue().items() if subject.client])
def test_every_client_bears_everything(name: str, tmp_path: Path, certificate: Certificate) -> None:
    client = catalogue()[name]
    if not installed(client):
        pytest.skip("not installed")
    assert client.client
    unseen = set() if client.client.compares else WRONG_BYTES
    known = KNOWN.get(name, set())
    chosen = [attack for attack in attacks_on(client) if str(attack) not in known and attack.name not in unseen]
    assert _faults(client, chosen, tmp_path, certificate) == {}
