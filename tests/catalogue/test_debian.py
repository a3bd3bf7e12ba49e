"""subjects/debian: packages and sources of another suite, into a folder, from a small signed repository of our own."""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from h123.base.paths import project_root

FETCH = project_root() / "subjects/debian/fetch"
SOURCE = FETCH.with_name("source")
TOOLS = ("apt-get", "dpkg-deb", "gpg")
LOADER, LIBRARIES = Path("/lib64/ld-linux-x86-64.so.2"), Path("/lib/x86_64-linux-gnu")

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS) or platform.machine() != "x86_64" or not LIBRARIES.is_dir(),
    reason=f"needs Debian on x86-64, with {', '.join(TOOLS)}",
)


@pytest.fixture(scope="module")
def machine() -> Iterator[dict[str, str]]:
    """Environment of a machine whose apt has Debian from our mirror: `greeter`, which needs `words`, and `notes`."""
    # In a path without spaces, wherever the tests' own files are: a list of sources could not name it.
    with tempfile.TemporaryDirectory(prefix="h123-machine-", dir="/tmp") as home:
        yield _set_up(Path(home))


def _set_up(home: Path) -> dict[str, str]:
    suite = home / "mirror/dists/trixie"
    (suite / "main/binary-amd64").mkdir(parents=True)
    packages = [
        _package(home, "words", "1.0-1", "", _libc()),
        _package(home, "greeter", "2.1.0-3", "words", {"usr/bin/printenv": Path("/usr/bin/printenv")}),
        _package(home, "notes", "5-1", "nowhere-to-be-had", {"usr/share/notes": FETCH, "usr/share/man/notes": FETCH}),
    ]
    index = suite / "main/binary-amd64/Packages"
    index.write_text("\n".join(packages))
    (suite / "main/source").mkdir()
    sources = suite / "main/source/Sources"
    sources.write_text("\n".join(_source(home, version) for version in ("1.0", "1.10", "1.9")))
    listed = (f" {_sha256(file)} {file.stat().st_size} {file.relative_to(suite)}\n" for file in (index, sources))
    _sign(home, suite, "".join(listed))
    (home / "lists/partial").mkdir(parents=True)
    (home / "cache/archives/partial").mkdir(parents=True)
    (home / "status").touch()
    (home / "sources.list").write_text(f"deb [trusted=yes] copy:{home}/mirror trixie main\n")
    (home / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{home}/sources.list"; Dir::Etc::sourceparts "-"; Dir::State "{home}"; '
        f'Dir::State::status "{home}/status"; Dir::Cache "{home}/cache"; APT::Sandbox::User "root";\n'
    )
    environment = {**os.environ, "APT_CONFIG": f"{home}/apt.conf", "DEBIAN_KEYRING": f"{home}/keys.gpg"}
    subprocess.run(["apt-get", "-qq", "update"], env=environment, check=True)
    return environment


def _libc() -> dict[str, Path]:
    """As Debian 12 packs it: in folders that are links to usr/ on a whole system."""
    return {f"{path}"[1:]: path for path in (LOADER, LIBRARIES / "libc.so.6")}


def _package(home: Path, name: str, version: str, depends: str, files: dict[str, Path]) -> str:
    """Builds a package into the mirror; its paragraph of the index."""
    tree = home / "trees" / name
    for path, content in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(content, tree / path)
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN").chmod(0o755)  # or dpkg-deb would have none of it
    fields = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: Nobody <a@example.org>\n"
    fields += f"Depends: {depends}\n" if depends else ""
    (tree / "DEBIAN/control").write_text(f"{fields}Description: for a test\n")
    archive = home / "mirror" / f"{name}.deb"
    subprocess.run(["dpkg-deb", "--build", "-Znone", tree, archive], check=True, capture_output=True)
    return f"{fields}Filename: {archive.name}\nSize: {archive.stat().st_size}\nSHA256: {_sha256(archive)}\n"


def _source(home: Path, version: str) -> str:
    """Packs a program's source into the mirror; its paragraph of the index."""
    tree = home / f"trees/tale-{version}"
    tree.mkdir(parents=True)
    (tree / "version").write_text(version)
    archive, description = home / f"mirror/tale_{version}.orig.tar.gz", home / f"mirror/tale_{version}-1.dsc"
    subprocess.run(["tar", "-czf", archive, "-C", tree.parent, tree.name], check=True)
    description.write_text(f"Source: tale\nVersion: {version}-1\n")
    files = "".join(f" {_sha256(file)} {file.stat().st_size} {file.name}\n" for file in (description, archive))
    return f"Package: tale\nVersion: {version}-1\nDirectory: .\nChecksums-Sha256:\n{files}"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sign(home: Path, suite: Path, sums: str) -> None:
    (home / "gnupg").mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(home / "gnupg"), "--batch", "--quiet"]
    key = ["--passphrase", "", "--quick-generate-key", "test@example.org", "ed25519"]
    subprocess.run([*gpg, *key], check=True, capture_output=True)
    (home / "keys.gpg").write_bytes(subprocess.run([*gpg, "--export"], check=True, capture_output=True).stdout)
    release = home / "Release"
    release.write_text(
        "Origin: Debian\nLabel: Debian\nSuite: trixie\nCodename: trixie\nArchitectures: amd64\nComponents: main\n"
        f"Date: Sat, 01 Aug 2026 00:00:00 UTC\nSHA256:\n{sums}"
    )
    subprocess.run([*gpg, "--clearsign", "--output", str(suite / "InRelease"), str(release)], check=True)
    # The agent that gpg started would outlive the test.
    subprocess.run(["gpgconf", "--homedir", str(home / "gnupg"), "--kill", "gpg-agent"], check=True)


def _fetch(machine: dict[str, str], folder: Path, *wanted: str) -> "subprocess.CompletedProcess[str]":
    command = ["sh", str(FETCH), "trixie", str(folder), *wanted]
    return subprocess.run(command, env=machine, capture_output=True, text=True)


def test_with_what_it_needs_on_its_own_libraries(machine: dict[str, str], tmp_path: Path) -> None:
    done = _fetch(machine, tmp_path / "new", "greeter=2.1.0-*")
    assert done.returncode == 0, done.stderr
    (tmp_path / "new").rename(tmp_path / "moved")  # as the installer does
    moved = tmp_path / "moved"
    run = subprocess.run([moved / "run", "usr/bin/printenv", "OPENSSL_CONF"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "/dev/null\n")
    rows = [line.split("\t") for line in (moved / "packages.tsv").read_text().splitlines()]
    assert [row[:2] for row in rows] == [["greeter", "2.1.0-3"], ["words", "1.0-1"]]
    mirror = Path(machine["APT_CONFIG"]).parent / "mirror"
    assert [row[2] for row in rows] == [_sha256(mirror / f"{row[0]}.deb") for row in rows]
    assert sorted(path.name for path in moved.iterdir()) == ["packages.tsv", "root", "run"]


def test_alone_comes_without_what_it_needs(machine: dict[str, str], tmp_path: Path) -> None:
    done = _fetch(machine, tmp_path, "words=*", "--", "notes=5-1")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "root/usr/share/notes").is_file()
    assert not (tmp_path / "root/usr/share/man").exists()


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (["greeter=2.0.*"], "trixie has greeter in version 2.1.0-3, and this subject was written for version 2.0.*"),
        (["greeter=?"], "trixie has greeter in version 2.1.0-3"),  # as docs/debian.md asks for what there is
        (["nothing=1"], "trixie has nothing not at all"),
        (["greeter"], "which version?"),
        (["notes=5-1"], "nowhere-to-be-had"),
    ],
)
def test_what_is_not_there_is_said(machine: dict[str, str], tmp_path: Path, wanted: list[str], said: str) -> None:
    done = _fetch(machine, tmp_path, *wanted)
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
    assert not (tmp_path / "root").exists()


def test_a_package_that_is_not_the_signed_one_is_refused(machine: dict[str, str], tmp_path: Path) -> None:
    home = Path(machine["APT_CONFIG"]).parent
    good = (home / "mirror/words.deb").read_bytes()
    (home / "mirror/words.deb").write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    done = _fetch(machine, tmp_path, "words=*")
    (home / "mirror/words.deb").write_bytes(good)
    assert done.returncode != 0
    assert "Hash Sum mismatch" in done.stderr
    assert not (tmp_path / "root").exists()


def test_a_mirror_that_others_signed_is_refused(machine: dict[str, str], tmp_path: Path) -> None:
    keys = Path(machine["APT_CONFIG"]).with_name("others.gpg")
    shutil.copy("/usr/share/keyrings/debian-archive-keyring.gpg", keys)
    done = _fetch({**machine, "DEBIAN_KEYRING": str(keys)}, tmp_path / "new", "words=*")
    assert done.returncode != 0
    assert "NO_PUBKEY" in done.stderr
    assert not (tmp_path / "new/root").exists()


def test_the_newest_source_that_fits(machine: dict[str, str], tmp_path: Path) -> None:
    archive = Path(machine["APT_CONFIG"]).parent / "mirror/tale_1.10.orig.tar.gz"
    command = ["sh", str(SOURCE), "trixie", str(tmp_path), "tale=1.*", _sha256(archive)]
    done = subprocess.run(command, env=machine, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"version": "1.10"}
