"""What `make wheel` builds, installed as a user does it: on bare Debian systems without compilers."""

import hashlib
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from built_wheels import build, run
from h123.base.paths import project_root
from h123.virtual.source import mirror

pytestmark = pytest.mark.heavy

ROOT = project_root()
TOOLS = {"debootstrap": "debootstrap", "bwrap": "bubblewrap"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MOST_WHEEL_BYTES = 12_000_000
MOST_INSTALLED_BYTES = 300_000_000
PYTHONS = {"bookworm": "3.11", "trixie": "3.13", "forky": "3.14"}
SCRIPT = "/usr/share/debootstrap/scripts/sid"
"""debootstrap's, for all suites: an older debootstrap does not know the newest by name."""
CERTIFICATE = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=localhost"
PYTHON_SERVER = """
import http.server, ssl
server = http.server.ThreadingHTTPServer(("0.0.0.0", 8443), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
_EMPTY = " ".join(
    f'--{flag} ""' for flag in ("alt-svc", "documents", "qlog", "initial-window", "pacing", "max-datagram")
)
_FLAGS = "--protocol h2 --tls 1.3 --cert cert.pem --key key.pem"
GO_SERVER = f"./h123-go serve --address 0.0.0.0 --port 8443 {_FLAGS} {_EMPTY}"


def test_the_same_commit_gives_the_same_bytes_in_another_folder(wheels: list[Path], tmp_path: Path) -> None:
    clone = tmp_path / "another clone"
    run(["git", "clone", "--quiet", ROOT, clone])
    assert run(["git", "status", "--porcelain"], cwd=ROOT) == "", "commit first: wheels are built from the work tree"
    again = build(clone, tmp_path / "again")
    assert [path.name for path in again] == [path.name for path in wheels]
    assert _digests(again) == _digests(wheels)


def _digests(files: list[Path]) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]


def test_the_wheel_is_small_for_old_systems_and_has_its_programs(wheels: list[Path]) -> None:
    wheel = wheels[0]
    assert wheel.stat().st_size <= MOST_WHEEL_BYTES
    shown = " ".join(run([ROOT / ".cache/packaging/bin/python", "-m", "auditwheel", "show", wheel]).split())
    assert 'consistent with the following platform tag: "manylinux_2_28_x86_64"' in shown
    modes = {info.filename: info.external_attr >> 16 for info in zipfile.ZipFile(wheel).infolist()}
    for name in ("h123-lab", "subjects/go/h123-go"):
        assert modes[f"h123/data/prebuilt/{name}"] & 0o111 == 0o111
    with zipfile.ZipFile(wheels[1]) as kernel:
        assert b"GNU GENERAL PUBLIC LICENSE" in kernel.read("h123_virtual_kernel/COPYING")


@dataclass(frozen=True)
class Debian:
    """A bare Debian system in a folder."""

    root: Path
    wheels: Path

    def run(self, command: str) -> str:
        """A shell's standard output, with root's rights and a TUN device that all users may open, as most
        distributions have it."""
        mounts = ["--bind", self.root, "/", "--bind", "/proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        mounts += ["--tmpfs", "/run", "--dev-bind", self.root / "tun", "/dev/net/tun"]
        mounts += ["--ro-bind", self.wheels, "/wheels"]
        environment = ["--clearenv", "--setenv", "PATH", PATH, "--setenv", "HOME", "/root", "--setenv", "LANG", "C"]
        return run(["bwrap", *mounts, "--cap-add", "ALL", *environment, "--chdir", "/root", "sh", "-ec", command])


@pytest.fixture(scope="module", params=sorted(PYTHONS))
def debian(request: pytest.FixtureRequest, wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Debian:
    if missing := [package for program, package in TOOLS.items() if shutil.which(program) is None]:
        run(["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *missing])
    store = tmp_path_factory.mktemp("store")
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", store, "--find-links", wheels[0].parent]
    versions = ["--python-version", PYTHONS[request.param], "--only-binary", ":all:"]
    run([*fetch, *versions, "h123[report,virtual]"])
    root = tmp_path_factory.mktemp("system") / request.param
    run(["debootstrap", "--variant=minbase", "--include=python3-venv,openssl", request.param, root, mirror(), SCRIPT])
    run(["mknod", root / "tun", "c", "10", "200"])
    (root / "tun").chmod(0o666)
    system = Debian(root, store)
    for name, extras in (("small", ""), ("v", "[report,virtual]")):
        install = f"{name}/bin/pip install --quiet --no-index --find-links /wheels 'h123{extras}'"
        system.run(f"python3 -m venv {name} && {install}")
    return system


def test_an_installation_is_small(debian: Debian) -> None:
    used = debian.run("cd small/lib/python3*/site-packages && du -sb --exclude='pip*' --exclude='*setuptools*' .")
    assert int(used.split()[0]) <= MOST_INSTALLED_BYTES


def test_doctor_finds_nothing_missing(debian: Debian) -> None:
    shown = debian.run("v/bin/h123 doctor")
    assert "missing" not in shown
    assert "limited" not in shown


def test_quick_gives_its_verdicts(debian: Debian) -> None:
    shown = debian.run("v/bin/h123 run quick --clock virtual --out quick")
    assert "144 of 144 trials valid" in shown
    assert "faster" in shown
    assert (debian.root / "root/quick/report.html").is_file()


def test_an_ordinary_user_measures_in_real_time(debian: Debian) -> None:
    user = "setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs env HOME=/tmp/user"
    place = "chmod 755 /root /dev/net && install -d -o 1000 /tmp/user && cd /tmp/user"
    shown = debian.run(f"{place} && {user} /root/v/bin/h123 run smoke --out smoke && cat smoke/verdicts.json")
    assert "8 of 8 trials valid" in shown
    assert '"user-namespace"' in shown


def test_two_builds_of_a_python_server_are_compared(debian: Debian) -> None:
    (debian.root / "root/serve.py").write_text(PYTHON_SERVER)
    (debian.root / "root/file").write_bytes(bytes(10_000))
    debian.run(CERTIFICATE)
    servers = "--server a='python3 serve.py' --server b='python3 serve.py' --url https://localhost:8443/file"
    shown = debian.run(f"v/bin/h123 compare {servers} --networks home --clock virtual --out python")
    assert "b and a are the same within 5 %" in shown


def test_two_builds_of_a_go_server_are_compared(debian: Debian) -> None:
    debian.run("cp v/lib/python3*/site-packages/h123/data/prebuilt/subjects/go/h123-go .")
    debian.run(CERTIFICATE)
    servers = f"--server a='{GO_SERVER}' --server b='{GO_SERVER}' --url https://localhost:8443/bytes/10000"
    shown = debian.run(f"v/bin/h123 compare {servers} --protocols h2 --networks home --clock virtual --out go")
    assert "b and a are the same within 5 %" in shown


def test_an_uninstall_leaves_nothing_but_cache_and_campaigns(debian: Debian) -> None:
    debian.run("v/bin/pip uninstall --quiet --yes h123 h123-virtual-kernel")
    assert debian.run("find v -path '*h123*'") == ""
    assert (debian.root / "root/.cache/h123").is_dir()
