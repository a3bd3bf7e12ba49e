"""Gets Debian's kernel source with the machine's apt. apt uses the machine's mirror, proxies and keys, but keeps its
state elsewhere, so that the machine's package sources do not change."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from h123.base.errors import UserError

SUITES = ("sid", "trixie-backports", "bookworm")
"""The suites to search for sources, in this order. Each has its own releases."""
TESTED_RELEASE = (7, 2)
"""The release for which the kernel's configuration was written."""
OLDEST = (6, 1)
OLDEST_FAST = (6, 16)
"""The first release whose user-mode kernel runs programs under seccomp instead of ptrace. They run faster, and time
passes while a program waits by spinning."""
PACKAGE = "linux-source-"
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class KernelSource:
    """A package that contains the sources of a release."""

    package: str
    """The package: `linux-source-7.2`."""
    version: str
    """Debian's version: `7.2.13-1`."""

    @property
    def release(self) -> tuple[int, ...]:
        """The release as numbers: (7, 2)."""
        return tuple(int(part) for part in self.package.removeprefix(PACKAGE).split("."))


def choose(sources: list[KernelSource]) -> KernelSource:
    """Return the tested release if it is available, else the newest. Raises UserError if all are too old."""
    usable = [source for source in sources if source.release >= OLDEST]
    if not usable:
        raise UserError(
            f"the Debian mirror has no {PACKAGE}{'.'.join(map(str, OLDEST))} or newer",
            remedy="`apt-cache policy linux-source` shows which versions this machine's apt knows",
            status=3,
        )
    return max(usable, key=lambda source: (source.release == TESTED_RELEASE, source.release))


def mirror() -> str:
    """Return the Debian mirror in the machine's apt configuration. Raises UserError if there is none."""
    fields = "$(CREATED_BY) $(ORIGIN) $(LABEL) $(REPO_URI)"
    listing = _apt("apt-get", "indextargets", "--format", fields)
    targets = [line.split() for line in listing.stdout.splitlines()]
    for target in targets:
        if target[:3] == ["Packages", "Debian", "Debian"] and len(target) == 4:
            return target[3]
    raise UserError(
        "apt on this machine knows no Debian mirror to get the kernel source from",
        remedy="on Debian run `apt-get update` first; on other systems the virtual kernel cannot be installed",
        status=3,
    )


class Archive:
    """The content of one suite on a mirror. apt keeps all its state about the suite in `folder`."""

    def __init__(self, folder: Path, address: str, suite: str) -> None:
        for part in ("lists/partial", "archives/partial", "empty"):
            (folder / part).mkdir(parents=True)
        keys = f"[signed-by={_KEYS}] " if _KEYS.exists() else ""
        (folder / "sources.list").write_text(f"deb {keys}{address} {suite} main\n", encoding="utf-8")
        self._options = [
            f"Dir::Etc::sourcelist={folder}/sources.list",
            "Dir::Etc::sourceparts=-",
            "Dir::Etc::preferences=/dev/null",
            f"Dir::Etc::preferencesparts={folder}/empty",
            f"Dir::State={folder}",
            f"Dir::State::lists={folder}/lists",
            f"Dir::Cache={folder}",
            "Acquire::Languages=none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
            "APT::Sandbox::User=root",
        ]

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command `apt-get` or `apt-cache` with options to use this archive, not the machine's package
        sources."""
        return [program, *(f"-o{option}" for option in self._options), *arguments]

    def sources(self) -> list[KernelSource]:
        """Return the kernel sources, with the newest version of each release. `apt-get update` must have fetched
        the lists."""
        names = _apt(*self.command("apt-cache", "pkgnames", PACKAGE)).stdout.split()
        releases = [name for name in names if name.removeprefix(PACKAGE).replace(".", "").isdigit()]
        if not releases:
            return []
        return parse_madison(_apt(*self.command("apt-cache", "madison", *releases)).stdout)


def parse_madison(text: str) -> list[KernelSource]:
    """Parse lines `package | version | origin`, in which the newest version of each package comes first."""
    newest: dict[str, KernelSource] = {}
    for line in text.splitlines():
        package, version, _ = (field.strip() for field in line.split("|"))
        newest.setdefault(package, KernelSource(package, version))
    return list(newest.values())


def _apt(*command: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise UserError(
            f"{command[0]} not found: the kernel source comes from a Debian package",
            remedy="the virtual kernel can be installed only on Debian",
            status=3,
        ) from None
    except subprocess.CalledProcessError as error:
        raise UserError(f"{command[0]} failed: {error.stderr.strip()}", status=1) from None
