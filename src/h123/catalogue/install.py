"""Brings subjects into the cache: whole or not at all, once, and again when their sources change."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from h123.catalogue.subject import PLACEHOLDER, Subject
from h123.errors import UserError
from h123.installing import alone, made_whole, run_logged
from h123.paths import cache_folder

STAMP = ".h123-installed"
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
    with alone(prefix(subject), report):
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


def _build(subject: Subject) -> None:
    whole = prefix(subject)
    log = whole.with_name(f"{subject.name}.log")
    log.unlink(missing_ok=True)
    with made_whole(whole) as partial:
        fingerprint = _fingerprint(subject)
        command = [PLACEHOLDER.sub(str(partial), word) for word in subject.install.build]
        run_logged(f"subject {subject.name}", command, log, subject.folder, _BUILD_ENVIRONMENT)
        (partial / STAMP).write_text(fingerprint + "\n", encoding="utf-8")


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
