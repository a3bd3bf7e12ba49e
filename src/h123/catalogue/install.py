"""Brings subjects into the cache: whole or not at all, once, and again when their sources change."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from h123.catalogue.subject import PLACEHOLDER, Subject
from h123.errors import UserError
from h123.paths import cache_folder

STAMP = ".h123-installed"
TAIL_LINES = 15
_BUILD_ENVIRONMENT = {"GOFLAGS": "-trimpath -buildvcs=false", "GOTOOLCHAIN": "local"}
"""The same sources give the same binary, wherever the checkout is."""
_BYPRODUCTS = {"__pycache__", "target", "node_modules"}
"""Left in a subject's folder by people who work on it; not sources."""


def prefix(subject: Subject) -> Path:
    """The subject's installation folder."""
    return cache_folder().resolve() / "subjects" / subject.name


def installed(subject: Subject) -> bool:
    """Whether the cache holds the subject as its sources are now."""
    try:
        return (prefix(subject) / STAMP).read_text(encoding="utf-8").strip() == _fingerprint(subject)
    except OSError:
        return False


def install(subject: Subject, report: Callable[[str], None]) -> None:
    """Builds the subject unless the cache has it. Raises UserError with the end of the build's output."""
    if installed(subject):
        return
    _check_needs(subject)
    with _alone(subject, report):
        if not installed(subject):  # another process may have done it while this one waited
            report(f"installing {subject.name} ({subject.title} {subject.version}), once")
            _build(subject)


def _check_needs(subject: Subject) -> None:
    missing = [command for command in subject.install.needs if shutil.which(command) is None]
    if missing:
        raise UserError(
            f"subject {subject.name} needs {', '.join(missing)}, not found on PATH",
            remedy=subject.install.needs_help or None,
            status=3,
        )


@contextmanager
def _alone(subject: Subject, report: Callable[[str], None]) -> Iterator[None]:
    """One installation of a subject at a time; the kernel lets go of the lock however the process ends."""
    folder = prefix(subject).parent
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{subject.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"waiting for another h123 that is installing {subject.name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(subject: Subject) -> None:
    """Builds beside the old installation and takes its place in the end; nobody ever sees half of one."""
    whole = prefix(subject)
    for remains in whole.parent.glob(f"{subject.name}~*.partial"):
        shutil.rmtree(remains)
    # Not the name that a killed process used: its compiler may still be writing there.
    partial, old = (whole.with_name(f"{subject.name}~{tag}.partial") for tag in (os.getpid(), "old"))
    partial.mkdir()
    try:
        fingerprint = _fingerprint(subject)
        _run(subject, partial, whole.with_name(f"{subject.name}.log"))
        (partial / STAMP).write_text(fingerprint + "\n", encoding="utf-8")
        if whole.exists():
            whole.rename(old)
        partial.rename(whole)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _run(subject: Subject, target: Path, log: Path) -> None:
    command = [PLACEHOLDER.sub(str(target), word) for word in subject.install.build]
    with log.open("w", encoding="utf-8") as output:
        try:
            ended = subprocess.run(
                command,
                cwd=subject.folder,
                env=os.environ | _BUILD_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as error:
            raise UserError(f"subject {subject.name}: {command[0]} cannot be run: {error.strerror}", status=1) from None
    if ended.returncode != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
        shown = "\n".join(f"  {line}" for line in lines)
        raise UserError(
            f"subject {subject.name}: the build ended with status {ended.returncode}:\n{shown}",
            remedy=f"the whole output is in {log}",
            status=1,
        )


def _fingerprint(subject: Subject) -> str:
    """SHA-256 over the subject's files (names, contents, whether executable) and how they are built."""
    digest = hashlib.sha256(repr((subject.install.build, _BUILD_ENVIRONMENT)).encode())
    for folder in [subject.folder, *(subject.folder / other for other in subject.install.sources)]:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder)
            if not _BYPRODUCTS.intersection(name.parts):
                content = path.read_bytes()
                digest.update(f"{name}\0{path.stat().st_mode & 0o111}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()
