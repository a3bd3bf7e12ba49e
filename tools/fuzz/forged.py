"""Campaigns in which one document is forged. Everything else is intact, and digests and seals match, as an attacker
would make them."""

import functools
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from campaign_commands import call, commands, enter, in_notebook, judge
from forging import Forgery, forgeries
from reader import ROOT, Reader
from tables import forged_tables

from h123.base.errors import UserError
from h123.store import seal

STUDY = ROOT / "tools/torture/torture.yaml"
_CHECKED = 0.05
"""The share of refused cases that are given to a command too."""
_DRAWN = 2
"""The number of commands that get a case that is not refused."""
Files = dict[str, bytes]
"""Content of files by their paths in the folder."""


@functools.cache
def _measured() -> Files:
    """Run a campaign of two blocks, and return its files without their digests."""
    with tempfile.TemporaryDirectory(prefix="h123-forged-") as scratch:
        folder = Path(scratch) / "c"
        command = [sys.executable, "-m", "hasty", "run", str(STUDY), "--blocks", "2", "--out", str(folder)]
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files["campaign.json"] = _bare(files["campaign.json"])
    files["journal.jsonl"] = b"".join(_bare(line) + b"\n" for line in files["journal.jsonl"].splitlines())
    return files


def _bare(document: bytes) -> bytes:
    return json.dumps({name: value for name, value in json.loads(document).items() if name != "digest"}).encode()


@functools.cache
def _trial() -> str:
    """Return the path of one attempt over HTTP/3 within the campaign."""
    return str(Path(min(name for name in _measured() if "-h3~" in name and name.endswith("seal.json"))).parent)


@functools.cache
def _forgeries(name: str) -> list[Forgery]:
    of = forged_tables if name.endswith(".parquet") else forgeries
    return list(of(_measured()[name]))


def _laid(folder: Path) -> tuple[Path, Path]:
    """Return a campaign to forge and an intact one in a worker's folder. They are created for the worker's first
    case."""
    forged, other = folder / "forged", folder / "other"
    for place in (forged, other):
        if not place.exists():
            for name, content in _measured().items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(content)
    return forged, other


def _seal(campaign: Path) -> None:
    """Seal the attempt again, and put the seal's digest into the journal."""
    attempt = campaign / _trial()
    seal.make(attempt)
    digest, lines = hashlib.sha256((attempt / seal.NAME).read_bytes()).hexdigest(), []
    for line in (campaign / "journal.jsonl").read_bytes().splitlines():
        event = json.loads(line)
        if event["event"] == "trial" and f"{event['trial']}~{event['attempt']}" == attempt.name:
            event["seal"] = digest
        lines.append(json.dumps(event).encode() + b"\n")
    (campaign / "journal.jsonl").write_bytes(b"".join(lines))


def _read(case: bytes, folder: Path, name: str) -> None:
    campaign, other = _laid(folder)
    (campaign / name).write_bytes(case)
    if name.startswith("trials/") and not name.endswith(seal.NAME):
        _seal(campaign)
    sealed = _attempts(campaign)
    try:
        _command_all(case, campaign, other, folder / "out")
        left = _attempts(campaign)
        assert left == sealed, f"trials are gone or new: {sorted({*left} ^ {*sealed})}"
    finally:
        shutil.rmtree(folder / "out", ignore_errors=True)
        _restore(campaign, name)


def _attempts(campaign: Path) -> list[str]:
    """Return the names of finished attempts. Unfinished ones do not count: a `run` that gets no engine leaves one, and
    the next run deletes it."""
    return sorted(path.name for path in (campaign / "trials").iterdir() if path.suffix != ".partial")


def _command_all(case: bytes, campaign: Path, other: Path, out: Path) -> None:
    """Read the forged campaign, and raise UserError if it is refused. Some refused cases, which the case's content
    selects, are also given to one command. Cases that pass are given to a few selected commands, or to all with
    FORGE_ALL=1."""
    out.mkdir(exist_ok=True)
    drawn = random.Random(case)
    ways = commands(campaign, other, out, Path(_trial()).name)
    if refusal := _refusal(campaign):
        judge(refusal)
        if drawn.random() < _CHECKED:
            call(drawn.choice(ways))
        raise refusal
    for words in ways if os.environ.get("FORGE_ALL") else drawn.sample(ways, _DRAWN):
        call(words)
    with warnings.catch_warnings(), suppress(UserError):
        warnings.simplefilter("ignore")
        in_notebook(campaign)


def _refusal(campaign: Path) -> UserError | None:
    try:
        enter(campaign)
    except UserError as refusal:
        return refusal
    return None


def _restore(campaign: Path, name: str) -> None:
    for begun in (campaign / "trials").glob("*.partial"):
        shutil.rmtree(begun)
    for again in {name, "campaign.json", "journal.jsonl", "verdicts.json", str(Path(_trial()) / seal.NAME)}:
        (campaign / again).write_bytes(_measured()[again])


def _reader(label: str, name: Callable[[], str]) -> Reader:
    return Reader(
        f"forged-{label}",
        lambda case, folder: _read(case, folder, name()),
        lambda: [_measured()[name()]],
        forged=lambda: _forgeries(name()),
    )


def _of_trial(file: str) -> Reader:
    return _reader(file.partition(".")[0], lambda: f"{_trial()}/{file}")


FORGED = (
    *(_reader("campaign", lambda: "campaign.json"), _reader("journal", lambda: "journal.jsonl")),
    *map(_of_trial, ("trial.json", "workload.json", "report.json", "client.json", "seal.json")),
    *map(_of_trial, ("samples.parquet", "packets-access.parquet", "tcp.parquet")),
)
