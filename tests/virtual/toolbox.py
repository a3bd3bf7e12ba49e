"""A machine on which everything is quick: the commands that a build of the virtual kernel runs, as small scripts."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from h123.virtual import kernel

SUITE = """\
#!/bin/sh
list=$(echo "$*" | sed -n 's/.*Dir::Etc::sourcelist=\\(.*[.]list\\).*/\\1/p')
suite=$(test -z "$list" || sed -n 's/.* \\([a-z-]*\\) main$/\\1/p' "$list")
"""
"""Of the archive that apt is asked about."""
APT_GET = f"""{SUITE}
echo "apt-get $*" >> "$TOOLS/calls"
case "$*" in
*indextargets*) cat "$TOOLS/targets" ;;
*update*) test -e "$TOOLS/suites/$suite" || {{ echo "E: no Release file for $suite"; exit 100; }} ;;
*download*) touch source.deb ;;
esac
"""
APT_CACHE = f"""{SUITE}
case "$*" in
*pkgnames*) cut -d' ' -f1 "$TOOLS/suites/$suite"; echo linux-source; echo linux-source-notes ;;
*madison*) sed "s|\\(.*\\) \\(.*\\)|\\1 \\| \\2 \\| mirror $suite/main|" "$TOOLS/suites/$suite" ;;
esac
"""
TAR = """\
#!/bin/sh
mkdir "$(basename "$2" .tar.xz)"
"""
MAKE = """\
#!/bin/sh
echo "make $*" >> "$TOOLS/calls"
case "$*" in
*allnoconfig*) grep -v "$(cat "$TOOLS/lost")" ../kernel.config > .config ;;
*) . "$TOOLS/compile" ;;
esac
"""
COMPILE = """\
printf '#!/bin/sh\\necho 7.2.13\\n' > linux
chmod +x linux
"""
NOTHING = "#!/bin/sh\n"
TARGETS = """\
Packages Google Google http://elsewhere/apt/
Packages Debian Debian-Security http://mirror/debian-security/
Packages Debian Debian http://mirror/debian/
"""


@dataclass(frozen=True)
class Toolbox:
    """Where the scripts are, and what they go by."""

    folder: Path

    def suites(self, **packages: str) -> None:
        """What the mirror has: by suite (`_` for `-`), `package version` a line."""
        for path in (self.folder / "suites").iterdir():
            path.unlink()
        for suite, text in packages.items():
            (self.folder / "suites" / suite.replace("_", "-")).write_text(f"{text}\n")

    def targets(self, text: str) -> None:
        """What apt knows."""
        (self.folder / "targets").write_text(text)

    def lost(self, option: str) -> None:
        """What Kconfig drops."""
        (self.folder / "lost").write_text(f"^{option}=")

    def compile(self, script: str) -> None:
        """What `make linux` does in the source's folder."""
        (self.folder / "compile").write_text(script)

    def remove(self, *names: str) -> None:
        """Commands that this machine lacks."""
        for name in names:
            (self.folder / "bin" / name).unlink()

    def calls(self, words: str) -> int:
        """How often such a command has been run."""
        path = self.folder / "calls"
        return sum(words in line for line in path.read_text().splitlines()) if path.exists() else 0


def make_toolbox(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Toolbox:
    """A PATH that has these commands and no others of a build, and a disk with room for them."""
    (folder / "bin").mkdir(parents=True)
    (folder / "suites").mkdir()
    scripts = {"apt-get": APT_GET, "apt-cache": APT_CACHE, "tar": TAR, "make": MAKE}
    for name in ("dpkg-deb", "xz", "gcc", "flex", "bison", "bc", "strip"):
        scripts[name] = NOTHING
    for name, text in scripts.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    for name in ("sh", "sed", "cat", "cut", "touch", "mkdir", "basename", "grep", "chmod", "sleep"):
        (folder / "bin" / name).symlink_to(next(p for d in os.defpath.split(":") if (p := Path(d) / name).exists()))
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setenv("TOOLS", str(folder))
    monkeypatch.delenv("H123_KERNEL", raising=False)
    monkeypatch.setattr(kernel, "_ROOM_BYTES", 1)  # these scripts write next to nothing, and the disk may be full
    box = Toolbox(folder)
    box.targets(TARGETS)
    box.suites(sid="linux-source-7.2 7.2.13-1")
    box.lost("CONFIG_NOTHING_IS_LOST")
    box.compile(COMPILE)
    return box
