"""Caches the explanations of attempts, because explaining packets takes far longer than the rest of an analysis.

Each campaign has one file, which contains the explanation of each attempt under the digest of the attempt's seal. A
file that is damaged, or was written by different code, is ignored and replaced. The files are in h123's cache, not in
the campaigns' folders, because those may come from an untrusted source.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final, Literal

import duckdb
import numpy as np
from pydantic import Field, ValidationError

from h123.base.files.durable import write_atomically
from h123.base.files.textfile import read_cached
from h123.base.paths import cache_folder
from h123.base.strict import Strict
from h123.causes import CAUSES

FORMAT: Final = "explained/1"
_MOST = 200
"""The largest number of campaigns in the cache. If there are more, the oldest files are deleted."""
_EXPLAINING = (
    "causes",
    "documents",
    "measures",
    "packets",
    "store",
    "study",
    "analysis/explanations/causes.py",
    "analysis/explanations/means.py",
)
"""The parts of the package whose code determines the cached explanations."""


class Means(Strict):
    """The mean time that requests in one phase of a trial spent on each cause, or the times of its median visit or
    recovery."""

    seconds: tuple[float, ...]
    """The seconds of each cause, in the order of CAUSES."""
    sums_up: float
    """The share of requests whose parts add up to the latency."""
    held: float
    """The seconds during which losses delayed data that had already arrived for other requests."""
    sizes: dict[str, float] = Field(default_factory=dict)
    """For each cause, the window in bytes or the number of simultaneous requests."""
    round_trip: float = 0.0
    """The round trip in seconds."""


class _File(Strict):
    h123: Literal["explained/1"] = FORMAT
    code: str
    attempts: dict[str, dict[str, Means]]
    digest: str = ""
    """The digest of all other fields."""


class StoredMeans:
    """The cached means of a campaign's attempts."""

    def __init__(self, campaign: str) -> None:
        """Read the cache of the campaign that the string `campaign` identifies."""
        name = hashlib.sha256(campaign.encode()).hexdigest()[:32]
        self._path = cache_folder() / "explained" / f"{name}.json"
        self._stored = _read(self._path)
        self._used: dict[str, dict[str, Means]] = {}

    def means_of(self, seal: str, explain: Callable[[], dict[str, Means]]) -> Mapping[str, Means]:
        """Return the means of the attempt with this seal, from the cache or by calling `explain`."""
        means = self._stored.get(seal)
        self._used[seal] = means if means is not None else explain()
        return self._used[seal]

    def keep(self) -> None:
        """Write the cache if there are new means. Failures to write it are ignored."""
        if self._used.keys() <= self._stored.keys():
            return
        file = _File(code=code(), attempts=self._stored | self._used)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, file.model_copy(update={"digest": _digest(file)}).model_dump_json())
            _prune(self._path.parent)
        except OSError:
            return


@cache
def code() -> str:
    """Return a digest of the explaining code and of the versions of the libraries that it uses."""
    package = Path(__file__).parents[2]
    digest = hashlib.sha256(f"{sys.version} {np.__version__} {duckdb.__version__}".encode())
    places = [package / name for name in _EXPLAINING]
    for path in sorted(chain.from_iterable([at] if at.is_file() else at.rglob("*.py") for at in places)):
        digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _read(path: Path) -> dict[str, dict[str, Means]]:
    try:
        file = _File.model_validate_json(read_cached(path) or b"")
    except ValidationError:
        return {}
    phases = chain.from_iterable(of.values() for of in file.attempts.values())
    whole = file.digest == _digest(file) and all(len(phase.seconds) == len(CAUSES) for phase in phases)
    return file.attempts if whole and file.code == code() else {}


def _digest(file: _File) -> str:
    rest = json.dumps(file.model_dump(exclude={"digest"}), sort_keys=True)
    return hashlib.sha256(rest.encode()).hexdigest()


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in files[:-_MOST]:
        path.unlink(missing_ok=True)
