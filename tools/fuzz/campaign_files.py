"""A synthetic campaign over three networks, and its files."""

import functools
import json
import tempfile
from dataclasses import replace
from pathlib import Path

from h123.measures import Attempt, load_attempts
from h123.store import CampaignFolder
from synthetic import Scenario, make_campaign


@functools.cache
def campaign() -> tuple[CampaignFolder, list[Attempt], dict[str, list[bytes]]]:
    """Return the campaign's folder (which no longer exists), its attempts, and the content of its files by name."""
    with tempfile.TemporaryDirectory(prefix="h123-fuzz-") as scratch:
        folder = make_campaign(Path(scratch) / "c", Scenario(blocks=1))
        found: dict[str, list[bytes]] = {}
        for path in sorted(folder.path.rglob("*")):
            if path.is_file():
                found.setdefault(path.name, []).append(path.read_bytes())
        return folder, [replace(attempt, facts=None) for attempt in load_attempts(folder)], found


def sample_files(name: str) -> list[bytes]:
    """Return the content of all the campaign's files with this name."""
    return campaign()[2][name]


def without_digests(files: list[bytes]) -> list[bytes]:
    """Return the JSON lines or documents as earlier versions wrote them, without digests. Then only a check of their
    shape protects readers."""
    return [b"\n".join(_bare(part) for part in _parts(file)) + b"\n" for file in files]


def _parts(file: bytes) -> list[bytes]:
    return [file] if file.startswith(b"{\n") else file.splitlines()


def _bare(document: bytes) -> bytes:
    content = json.loads(document)
    return json.dumps({key: value for key, value in content.items() if key != "digest"}).encode()
