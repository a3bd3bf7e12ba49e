"""Compares handshakes with real ML-DSA certificates (FIPS 204) with handshakes with padded ECDSA ones of their size.

    PYTHONPATH=src .venv/bin/python bench/mldsa.py FOLDER

Prints the round trips until the first byte, its time and the server's bytes, in parentheses with padded certificates,
which are longer by the difference of the signatures in TLS's CertificateVerify. The exit status is 1 if the round trips
differ.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import mldsa

from h123.base.terminal.markdown import table
from h123.cli import main as h123
from h123.execution import certificate
from h123.execution.files import SERVER_ADDRESS
from h123.measures import load_attempts
from h123.store import CampaignFolder

KINDS: dict[int, tuple[Any, int]] = {
    44: (mldsa.MLDSA44PrivateKey, 2420),
    65: (mldsa.MLDSA65PrivateKey, 3309),
    87: (mldsa.MLDSA87PrivateKey, 4627),
}
"""The private key, and the size of a signature in bytes (FIPS 204, table 2)."""
ECDSA = 71
"""The usual size of a signature with P-256."""
STUDY = """h123: study/1
name: mldsa
question: How long does a handshake with this chain take?
factors:
  stack: {{h2: {{server: nginx-sid, protocol: h2}}, h3: {{server: nginx-sid, protocol: h3}}}}
  key_share: [X25519, X25519MLKEM768]
settings: {{client: load, network: home, losses: none, queue_limit: none, clock: virtual, certificate: {size},
           size: 1kB, connections: 1, users: 1, requests: 1}}
compare:
  factor: stack
  pairs: [h3/h2]
  twin: h2
  families: [{{name: answer, correction: holm, metrics: [cold_ttfb]}}]
blocks: 1
seed: 1
"""
_SIGN = x509.CertificateBuilder.sign
Openings = dict[tuple[str, str], tuple[int, float, float]]


def main(folder: Path) -> int:
    """Run the campaigns in `folder`, and return 1 if round trips differ."""
    rows, differing = [], 0
    for kind, (_, signature) in KINDS.items():
        with _real(kind):
            with TemporaryDirectory() as place:
                size = certificate.campaign_certificate(Path(place), [SERVER_ADDRESS], 1).bytes()
            real = _openings(folder / f"mldsa-{kind}", size)
        padded = _openings(folder / f"padded-{kind}", size + signature - ECDSA)
        for cell in sorted(real):
            differing += real[cell][0] != padded[cell][0]
            (trips, first, sent), (as_many, at, bytes_) = real[cell], padded[cell]
            names = {"chain": f"ML-DSA-{kind}, {size} bytes", "stack": ", ".join(cell)}
            counts = {"round trips": f"{trips} ({as_many})", "first byte, ms": f"{first:.2f} ({at:.2f})"}
            rows.append(names | counts | {"server's kB": f"{sent:.2f} ({bytes_:.2f})"})
    print("\n".join(table(rows)))
    return 1 if differing else 0


@contextmanager
def _real(kind: int) -> Iterator[None]:
    """Make h123 issue ML-DSA certificates that are not padded."""
    key = KINDS[kind][0]
    with (
        patch.object(certificate._Source, "key", lambda source, use: key.from_seed_bytes(source.take(use, 32))),
        patch.object(x509.CertificateBuilder, "sign", lambda builder, signer, *_, **__: _SIGN(builder, signer, None)),
        patch.object(certificate, "_of_size", lambda _, sign, leaf, names, issuer: [sign(leaf, names, 0, 0), issuer]),
    ):
        yield


def _openings(campaign: Path, size: int) -> Openings:
    """Run the study, and return what each connection took: round trips, ms, and kB from the server."""
    campaign.parent.mkdir(parents=True, exist_ok=True)
    study = campaign.with_suffix(".yaml")
    study.write_text(STUDY.format(size=size))
    with patch.object(sys, "argv", ["h123", "run", str(study), "--out", str(campaign), "-q"]), suppress(SystemExit):
        h123()
    return {
        (attempt.cell["stack"], attempt.cell["key_share"]): (one.round_trips, one.ns / 1e6, one.bytes_down / 1e3)
        for attempt in load_attempts(CampaignFolder.open(campaign))
        for one in attempt.openings
    }


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
