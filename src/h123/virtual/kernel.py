"""Builds and finds the virtual kernel: user-mode Linux with time travel, built once from Debian's kernel source.

The kernel is installed completely or not at all: the build runs in a separate folder, which replaces the installation
at the end.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from h123.base.errors import UserError
from h123.base.files.installation import alone, remove_installation, replacement_folder, run_logged
from h123.base.files.textfile import read_cached
from h123.base.paths import cache_folder
from h123.base.processes import usable_processors
from h123.base.terminal.steps import Steps
from h123.virtual.source import OLDEST_FAST, SUITES, TESTED_RELEASE, Archive, KernelSource, choose, mirror

NAME = "virtual-kernel"
FORMAT = "virtual-kernel/1"
_BINARY, _STAMP = "linux", "kernel.json"
_NEEDS = {
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "tar": "tar",
    "xz": "xz-utils",
    "make": "make",
    "gcc": "gcc libc6-dev",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
}
"""The commands that a build needs, with the Debian packages that contain them."""
_PACKAGE = "h123_virtual_kernel"
_REFUSED = re.compile(r"[\s:]")
"""Characters that the kernel's `make` refuses in a path."""
_TEMPORARY = (Path("/var/tmp"), Path("/tmp"))
"""Folders to use if `make` refuses the path of TMPDIR. /tmp comes last, because it may be in memory, which a build
would fill."""
_ROOM_BYTES = 2_000_000_000
_UNUSED = (
    "Documentation/*.rst",
    "arch/[a-t]*.[chS]",
    "arch/*.dts*",
    "drivers/gpu/*.[ch]",
    "drivers/media/*.[ch]",
    "drivers/net/ethernet/*.[ch]",
    "drivers/net/wireless/*.[ch]",
    "drivers/staging/*.[ch]",
    "sound/*.[ch]",
    "tools/testing/*",
)
"""Files that are not unpacked, two thirds of the source: mainly drivers for devices that this kernel does not have.
Files that Kconfig reads must remain."""
_MAKE = ("make", "ARCH=um")
_CONFIGURE = (*_MAKE, "KCONFIG_ALLCONFIG=../kernel.config", "allnoconfig")
_COMPILE = (*_MAKE, "linux")
_ENVIRONMENT = {
    "LC_ALL": "C",
    "KBUILD_BUILD_USER": "h123",
    "KBUILD_BUILD_HOST": "h123",
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
}
"""The environment of the build. It makes sure that the same source always gives the same binary."""


@dataclass(frozen=True)
class Configuration:
    """A kernel to build: the name of its folder, and options beyond those that the virtual clock needs."""

    name: str = NAME
    """The name of the kernel's folder in the cache."""
    more: Path | None = None
    """A file with options in addition to those that the virtual clock needs."""
    edits: tuple[tuple[str, str, str], ...] = ()
    """Changes to the source: for each, a file, the text to replace in it, and the replacement."""

    @property
    def folder(self) -> Path:
        """The kernel's folder in the cache."""
        return cache_folder().resolve() / self.name

    @property
    def options(self) -> str:
        """The lines that Kconfig reads."""
        more = self.more.read_text(encoding="utf-8") if self.more else ""
        return _fragment().read_text(encoding="utf-8") + more


_VIRTUAL_CLOCK = Configuration()


@dataclass(frozen=True)
class Kernel:
    """An installed kernel."""

    path: Path
    source: KernelSource
    sha256: str


def virtual_kernel() -> Path:
    """Return the kernel to boot (H123_KERNEL overrides the installed one).

    Raises UserError if there is none, or only one built from a different configuration.
    """
    if override := os.environ.get("H123_KERNEL"):
        return Path(override)
    kernel = installed_kernel()
    if kernel is None:
        raise UserError(
            "the virtual clock needs the virtual kernel, which is not installed",
            remedy=f"run `h123 install {NAME}` once to build it, or `pip install 'h123[virtual]'`",
            status=3,
        )
    return kernel.path


def installed_kernel() -> Kernel | None:
    """Return the kernel in the cache, or in the package h123-virtual-kernel, or None. A kernel that was built with a
    different recipe is ignored."""
    kernels = (_read_kernel(folder, _VIRTUAL_CLOCK) for folder in (_VIRTUAL_CLOCK.folder, *_packaged()))
    return next((kernel for kernel in kernels if kernel), None)


def _packaged() -> Iterator[Path]:
    """Yield the folder of the package h123-virtual-kernel, if it is installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec and spec.origin:
        yield Path(spec.origin).parent


def _read_kernel(folder: Path, configuration: Configuration) -> Kernel | None:
    try:
        stamp = json.loads(read_cached(folder / _STAMP) or b"")
    except ValueError:
        return None
    if (stamp.get("h123"), stamp.get("recipe")) != (FORMAT, recipe(configuration)) or not (folder / _BINARY).exists():
        return None
    return Kernel(folder / _BINARY, KernelSource(stamp["package"], stamp["version"]), stamp["sha256"])


def recipe(configuration: Configuration = _VIRTUAL_CLOCK) -> str:
    """Return a SHA-256 digest of everything that determines the result of a build, except the source."""
    ingredients: list[Any] = [configuration.options, _UNUSED, _CONFIGURE, _COMPILE, _ENVIRONMENT, *configuration.edits]
    return hashlib.sha256(json.dumps(ingredients).encode()).hexdigest()


def install_kernel(steps: Steps, configuration: Configuration = _VIRTUAL_CLOCK) -> Kernel:
    """Build the kernel unless the cache has it. Raises UserError with the end of the build's output."""
    with alone(configuration.folder, steps.begin):
        if (kernel := _installed(configuration)) is None:
            _check_machine()
            _build(steps, configuration)
            kernel = _installed(configuration)
        assert kernel is not None
        return kernel


def _installed(configuration: Configuration) -> Kernel | None:
    if configuration == _VIRTUAL_CLOCK:
        return installed_kernel()
    return _read_kernel(configuration.folder, configuration)


def remove_kernel(report: Callable[[str], None]) -> bool:
    """Remove the kernel and its build log from the cache. Return False if neither existed."""
    with alone(_VIRTUAL_CLOCK.folder, report):
        return remove_installation(_VIRTUAL_CLOCK.folder)


def _fragment() -> Path:
    return Path(__file__).with_name("kernel.config")


def _workshop(folder: Path) -> Path:
    """Return the folder to build in: next to the installation, or a temporary one if the installation's path contains
    spaces or colons, which the kernel's `make` refuses."""
    places = [folder, Path(tempfile.gettempdir()).resolve(), *_TEMPORARY]
    for place in places:
        if not _REFUSED.search(str(place)) and os.access(place, os.W_OK):
            return place
    raise UserError(
        "a kernel cannot be built in a folder with spaces or colons in its path, and no other folder is writable: "
        + ", ".join(str(place) for place in places),
        remedy="set TMPDIR or H123_CACHE to a folder whose path has none",
        status=3,
    )


def _check_machine() -> None:
    missing = [command for command in _NEEDS if shutil.which(command) is None]
    if missing:
        packages = " ".join(_NEEDS[command] for command in missing)
        raise UserError(
            f"building the virtual kernel needs {', '.join(missing)}, not found on PATH",
            remedy=f"apt-get install --no-install-recommends {packages}",
            status=3,
        )
    place = _workshop(cache_folder().resolve())
    free = shutil.disk_usage(place).free
    if free < _ROOM_BYTES:
        raise UserError(
            f"building the virtual kernel takes {_ROOM_BYTES / 1e9:.0f} GB of disk space temporarily; "
            f"{free / 1e9:.1f} GB are free in {place}",
            remedy="free some space, or set H123_CACHE to a folder elsewhere",
            status=3,
        )


def _build(steps: Steps, configuration: Configuration) -> None:
    whole = configuration.folder
    log = whole.with_name(f"{whole.name}.log")
    log.unlink(missing_ok=True)
    with replacement_folder(whole) as partial:
        with tempfile.TemporaryDirectory(prefix="h123-kernel-", dir=_workshop(partial)) as work:
            job = _Job(Path(work), log, steps, configuration)
            source = job.fetch()
            shutil.move(job.compile(source), partial / _BINARY)
        stamp = {
            "h123": FORMAT,
            "package": source.package,
            "version": source.version,
            "recipe": recipe(configuration),
            "sha256": hashlib.sha256((partial / _BINARY).read_bytes()).hexdigest(),
        }
        (partial / _STAMP).write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class _Job:
    """A build in progress."""

    work: Path
    log: Path
    steps: Steps
    configuration: Configuration

    def fetch(self) -> KernelSource:
        """Choose a kernel source package, download it into the work folder, and return it."""
        self.steps.begin("virtual kernel: looking for kernel sources on the Debian mirror")
        offers = self._offers()
        source = choose(list(offers))
        if source.release < OLDEST_FAST:
            self.steps.begin(
                f"virtual kernel: WARNING: the mirror has nothing newer than {source.package}: with it, "
                "programs run slower, and some that wait by spinning (Envoy) hang"
            )
        self.steps.begin(f"virtual kernel: downloading {source.package} {source.version}")
        download = offers[source].command("apt-get", "download", f"{source.package}={source.version}")
        self._run(download, lambda: self.steps.move(f"{_size(self.work.rglob('*.deb*')) / 1e6:.0f} MB"))
        return source

    def _offers(self) -> dict[KernelSource, Archive]:
        """Return kernel sources with their archives. The function searches one suite after another until one contains
        the tested release."""
        address, offers = mirror(), dict[KernelSource, Archive]()
        for suite in SUITES:
            archive = Archive(self.work / f"apt-{suite}", address, suite)
            try:
                self._run(archive.command("apt-get", "update"), lambda: self.steps.move("lists of packages"))
            except UserError:
                continue  # the mirror may lack a suite; apt's complaint is in the log
            offers |= dict.fromkeys(archive.sources(), archive)
            if any(source.release == TESTED_RELEASE for source in offers):
                break
        return offers

    def compile(self, source: KernelSource) -> Path:
        """Unpack, configure and compile the source, and return the binary."""
        self.steps.begin("virtual kernel: unpacking")
        (package,) = self.work.glob("*.deb")
        self._run(["dpkg-deb", "-x", str(package), "package"])
        tree = self.work / source.package
        unused = [f"--exclude={source.package}/{pattern}" for pattern in _UNUSED]
        archive = f"package/usr/src/{source.package}.tar.xz"
        self._run(["tar", "-xJf", archive, *unused], lambda: self.steps.move("source files"))
        for file, old, new in self.configuration.edits:
            _edit(tree / file, old, new)
        (self.work / "kernel.config").write_text(self.configuration.options, encoding="utf-8")
        processors = len(usable_processors())
        self.steps.begin(f"virtual kernel: compiling on {processors} processors; this takes a few minutes, once")
        self._run(_CONFIGURE, cwd=tree)
        _check_configuration(tree / ".config", self.configuration.options)
        self._run([*_COMPILE, f"-j{processors}"], self._move_objects, cwd=tree)
        return self._check_version(tree / _BINARY)

    def _check_version(self, binary: Path) -> Path:
        """Strip the binary, run it once to check that it starts, and return its path."""
        self._run(["strip", "--strip-debug", str(binary)])
        self._run([str(binary), "--version"])
        return binary

    def _move_objects(self) -> None:
        compiled = self.log.read_text(encoding="utf-8", errors="replace").count("\n  CC ")
        self.steps.move(f"{compiled} files compiled")

    def _run(
        self, command: Sequence[str], meanwhile: Callable[[], None] = lambda: None, cwd: Path | None = None
    ) -> None:
        run_logged("the virtual kernel", command, self.log, cwd or self.work, _ENVIRONMENT, meanwhile)


def _edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    if old not in text:
        raise UserError(
            f"this kernel source has no {old!r} in {file.name}, where the configuration changes it", status=1
        )
    file.write_text(text.replace(old, new), encoding="utf-8")


def _check_configuration(config: Path, options: str) -> None:
    """Raise UserError if Kconfig has dropped one of the options. It does so without an error if it does not know an
    option, or if the option depends on something that is off."""
    lines = set(config.read_text(encoding="utf-8").splitlines())
    required = [line for line in options.splitlines() if line.startswith("CONFIG_")]
    missing = [line for line in required if line not in lines]
    if missing:
        raise UserError(f"this kernel source has no {', '.join(missing)}; {_fragment()} requires it", status=1)


def _size(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files)
