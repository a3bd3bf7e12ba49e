"""Fuzzes the seal of an attempt, with the digest that the journal has and with one that an attacker would forge."""

import hashlib
from pathlib import Path

from campaign_files import sample_files
from reader import Reader

from h123.store import seal


def _read(case: bytes, folder: Path) -> None:
    (folder / seal.NAME).write_bytes(case)
    (folder / "report.json").write_bytes(b"{}")
    for digest in (hashlib.sha256(case).hexdigest(), 64 * "0"):
        seal.damage(folder, {"seal": digest, "valid": True})


SEAL = Reader("seal", _read, lambda: sample_files(seal.NAME), words=("../report.json", "/dev/zero", "report.json"))
