"""Installs subjects into the cache and removes them. An installation is complete or absent, and is built again if its
sources have changed."""

import hashlib
import json
import re
import shutil
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.installation import alone, remove_installation, replacement_folder, run_logged, size_of
from h123.base.files.textfile import read_cached
from h123.base.paths import cache_folder, checkout, prebuilt
from h123.catalogue.manifest import PLACEHOLDER
from h123.catalogue.own_server import OwnSubject
from h123.catalogue.subject import Subject

STAMP = ".h123-installed"
MANIFEST = "subject.toml"
_PROSE = ("title", "note", "parts_note", "needs_help")
"""Keys of a manifest that only people read. A change to them does not invalidate a verification."""
_BUILD_ENVIRONMENT = {"GOFLAGS": "-trimpath -buildvcs=false", "GOTOOLCHAIN": "local"}
"""Environment variables for builds. With them, Go builds the same binary from the same sources wherever the checkout
is."""
_OWN_FILE = re.compile(r"\{prefix\}/([^{}:*]+)")
"""Matches a path in a word of a command line: `{prefix}/lib/*` refers to `lib/`."""
_BYPRODUCTS = {"__pycache__", "target", "node_modules"}
"""Folders that builds and tests leave among a subject's files. They are not sources."""
_GO_TEST = "_test.go"
"""The suffix of Go test files. No build contains them, so a change to one does not invalidate a verification."""


@dataclass(frozen=True)
class Installation:
    recipe: str
    """SHA-256 of everything that the installation was built from."""
    seconds: float
    bytes: int
    """The size on disk in bytes."""


def installations() -> Path:
    return cache_folder().resolve() / "subjects"


def prefix(subject: Subject) -> Path:
    return installations() / subject.installed_as


def installation(subject: Subject) -> Installation | None:
    """Return the installation of the subject if it is complete and was built from the current sources; otherwise
    None."""
    return None if _missing_file(subject) else _stamp(subject)


def damage(subject: Subject) -> Path | None:
    """Return the first file or program that the subject's commands name and that is missing. None if nothing is
    missing, or if the subject was never built from its current sources."""
    missing = _missing_file(subject)
    return missing if missing and _stamp(subject) else None


def _stamp(subject: Subject) -> Installation | None:
    return _read_stamp(prefix(subject), subject)


def _read_stamp(folder: Path, subject: Subject) -> Installation | None:
    """Return the facts in the stamp of an installation. None if it has no valid stamp, or if the subject's sources have
    changed since the build."""
    try:
        stamp = Installation(**json.loads(read_cached(folder / STAMP) or b""))
    except (ValueError, TypeError):
        return None
    return stamp if stamp.recipe == recipe(subject) else None


def _missing_file(subject: Subject) -> Path | None:
    """Return the first missing file or folder of the installation that the subject's commands name. If there is none,
    return the first program that they start and that is not on PATH. Nothing else is checked, because that would take
    too long."""
    roles = (
        subject.server,
        subject.client,
        subject.backend,
        subject.origin,
        subject.probe,
        subject.scout,
        subject.spoiler,
    )
    commands = [role.command for role in roles if role]
    own = [prefix(subject) / name for command in commands for word in command for name in _OWN_FILE.findall(word)]
    foreign = [command[0] for command in commands if not PLACEHOLDER.search(command[0])]
    missing = [path for path in own if not path.exists()]
    return next(iter(missing + [Path(name) for name in foreign if shutil.which(name) is None]), None)


def installed(subject: Subject) -> bool:
    """Return whether the cache contains the subject, built from its current sources."""
    return installation(subject) is not None


def installed_once(subject: Subject) -> bool:
    """Return whether the cache contains the subject, even if it was built from earlier sources."""
    return prefix(subject).is_dir()


def install(subject: Subject, report: Callable[[str], None], meanwhile: Callable[[], None] = lambda: None) -> None:
    """Build the subject unless it is in the cache. `meanwhile` is called about twice a second during the build. A
    user's own server is only checked, not built.

    Raises UserError with the end of the build's output if the build fails.
    """
    if isinstance(subject, OwnSubject):
        subject.own.check()
        return
    if installed(subject):
        return
    if not _is_prebuilt(subject):
        _check_needs(subject)
    with alone(prefix(subject), report):
        if not installed(subject):  # another process may have installed it while this one waited
            if fault := damage(subject):
                report(f"{fault} is missing, so {subject.name} is built again")
            else:
                report(f"installing {subject.name} ({subject.title} {subject.version}), once")
            _build(subject, meanwhile)
            _check_result(subject)


def remove(subject: Subject, report: Callable[[str], None]) -> bool:
    """Remove the subject and its build log from the cache. Return False if neither existed."""
    if subject.install.embedded:
        remedy = "`make clean` removes all builds" if checkout() else "uninstall the package: pip uninstall h123"
        raise UserError(f"{subject.name} is part of h123 and cannot be removed", remedy=remedy)
    if whole := subject.install.part_of:
        raise UserError(
            f"{subject.name} is part of the installation of {whole}", remedy=f"`h123 remove {whole}` removes both"
        )
    with alone(prefix(subject), report):
        return remove_installation(prefix(subject))


def fingerprint(subject: Subject) -> str:
    """Return the SHA-256 of the names, contents and executable bits of all of the subject's files, except Go tests and
    the prose in manifests. A verification is valid only for exactly these files."""
    own = _files_of(subject.folder) if subject.install.part_of else ()
    return _digest([*own, *_sources(subject)])


def recipe(subject: Subject) -> str:
    """Return the SHA-256 of everything that an installation is built from: the version, the build command with its
    environment, and the sources without the manifest. Other changes to the manifest do not require a new build."""
    made_by = (subject.version, subject.install.build, _BUILD_ENVIRONMENT)
    built_of = _digest((path, name) for path, name in _sources(subject) if str(name) != MANIFEST)
    return hashlib.sha256((repr(made_by) + built_of).encode()).hexdigest()


def _digest(files: Iterable[tuple[Path, Path]]) -> str:
    digest = hashlib.sha256()
    for path, name in files:
        content = _content(path)
        # Only the owner's permission counts: whether others may execute a file depends on the umask of the clone.
        executable = 0o111 if path.stat().st_mode & 0o100 else 0
        digest.update(f"{name}\0{executable}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    """Return the content of a file. Of a manifest, return the content without prose, comments and formatting."""
    content = path.read_bytes()
    if path.name != MANIFEST:
        return content
    try:
        manifest = tomllib.loads(content.decode("utf-8"))
    except ValueError:
        return content
    for table in [manifest, manifest.get("install")]:
        if isinstance(table, dict):
            for key in _PROSE:
                table.pop(key, None)
    return json.dumps(manifest, sort_keys=True, default=str).encode()


def _sources(subject: Subject) -> Iterator[tuple[Path, Path]]:
    """Yield the files that the subject's installation is built from, each with its path relative to its source
    folder."""
    for folder in [subject.workshop, *(subject.workshop / other for other in subject.install.sources)]:
        yield from _files_of(folder)


def _files_of(folder: Path) -> Iterator[tuple[Path, Path]]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        if not _BYPRODUCTS.intersection(name.parts) and not name.name.endswith(_GO_TEST):
            yield path, name


def _files(subject: Subject) -> dict[Path, str]:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path, _ in _sources(subject)}


def _check_sources(subject: Subject, before: Mapping[Path, str]) -> None:
    """Raise UserError if the build has changed its own sources, because every installation would then be out of
    date."""
    after = _files(subject)
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    if changed:
        raise UserError(
            f"subject {subject.name}: the build writes into the subject's own folder, such as {changed[0]}, "
            "which makes every installation out of date",
            remedy=f"let install.build in {subject.workshop / MANIFEST} write only into {{prefix}} or a folder named "
            f"{' or '.join(sorted(_BYPRODUCTS))}",
            status=1,
        )


def _check_needs(subject: Subject) -> None:
    missing = [command for command in subject.install.needs if shutil.which(command) is None]
    if missing:
        raise UserError(
            f"subject {subject.name} needs {', '.join(missing)}, not found on PATH",
            remedy=subject.install.needs_help or None,
            status=3,
        )


def _check_result(subject: Subject) -> None:
    """Raise UserError if, after a successful build, a file or program that the subject's commands name is missing."""
    if missing := _missing_file(subject):
        raise UserError(
            f"subject {subject.name}: the build succeeded, but {missing} is missing",
            remedy=f"mend install.build in {subject.workshop / MANIFEST}, which is to put all that is started into "
            "{prefix}, or the command that names it",
            status=1,
        )


def _prebuilt(subject: Subject) -> Path:
    return prebuilt("subjects", subject.installed_as)


def _is_prebuilt(subject: Subject) -> bool:
    """Return whether the package contains the subject, built from its current sources."""
    return _read_stamp(_prebuilt(subject), subject) is not None


def _build(subject: Subject, meanwhile: Callable[[], None]) -> None:
    whole = prefix(subject)
    if _is_prebuilt(subject):
        with replacement_folder(whole) as partial:
            shutil.copytree(_prebuilt(subject), partial, dirs_exist_ok=True)
        return
    log = whole.with_name(f"{subject.installed_as}.log")
    log.unlink(missing_ok=True)
    start, before = time.monotonic(), _files(subject)
    with replacement_folder(whole) as partial:
        made_of = recipe(subject)
        command = [PLACEHOLDER.sub(str(partial), word) for word in subject.install.build]
        with _workshop(subject) as workshop:
            run_logged(f"subject {subject.name}", command, log, workshop, _BUILD_ENVIRONMENT, meanwhile)
        _check_sources(subject, before)
        built = Installation(made_of, round(time.monotonic() - start, 1), size_of(partial))
        (partial / STAMP).write_text(json.dumps(asdict(built)) + "\n", encoding="utf-8")


@contextmanager
def _workshop(subject: Subject) -> Iterator[Path]:
    """Yield the folder to build in. In an installed package, this is a copy of the sources: the package's folder may be
    read-only, and a build must not write into it."""
    if checkout():
        yield subject.workshop
        return
    with tempfile.TemporaryDirectory(prefix="h123-build-") as folder:
        copy = Path(folder, "subjects")
        shutil.copytree(subject.workshop.parent, copy, ignore=shutil.ignore_patterns(*_BYPRODUCTS))
        yield copy / subject.workshop.name
