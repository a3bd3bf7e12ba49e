"""Builds the container image: `make image`, or packaging/image.py [--wheels FOLDER] [--name NAME] [--extras NAMES].

The image has the wheels of packaging/build.py, the versions of other packages that requirements/run.txt locks, and a
small Debian system, which mmdebstrap makes from the mirror of this machine's apt. No registry of images is used.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from h123 import __version__
from h123.base.errors import UserError
from h123.virtual.source import mirror

ROOT = Path(__file__).resolve().parents[1]
SUITE, PYTHON = "trixie", "3.13"
PACKAGES = ["python3", "ca-certificates", "libstdc++6"]
NEEDED = {"buildah": "buildah", "runc": "runc", "mmdebstrap": "mmdebstrap", "podman": "podman"}
USER = 1000
"""An ordinary user. The home and the working directory are open to any other that `--user` names."""
LEFT_OUT = ["man", "info", "locale", "lintian", "doc"]
"""Below /usr/share. Licences stay."""


def main() -> None:
    """Prints the image's name and size."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--wheels", type=Path, default=ROOT / "dist", help="the folder with the two wheels")
    options.add_argument("--name", default=f"localhost/h123:{__version__}")
    options.add_argument("--extras", default="virtual", help="such as report,virtual, which draws figures")
    given = options.parse_args()
    if missing := [package for program, package in NEEDED.items() if shutil.which(program) is None]:
        sys.exit(f"{', '.join(missing)} not found: apt install --no-install-recommends {' '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="h123-image-") as folder:
        store = download(given.wheels, Path(folder, "store"))
        system = debian(Path(folder, "system.tar"))
        build(system, store, given.name, given.extras)
    print(f"{given.name}: {size(given.name) / 1e6:.0f} MB")


def download(wheels: Path, store: Path) -> Path:
    """A folder with all packages that go into the image, and pip, which does not."""
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(store), "--python-version", PYTHON]
    fetch += ["--only-binary", ":all:"]
    found = [max(wheels.glob(f"{name}-{__version__}-*.whl"), default=None) for name in ("h123", "h123_virtual_kernel")]
    if not all(found):
        sys.exit(f"{wheels} lacks the wheels of version {__version__}: run `make wheel`")
    run(*fetch, "--require-hashes", "--no-deps", "-r", str(ROOT / "requirements/run.txt"))
    run(*fetch, "--no-deps", "pip")
    for wheel in found:
        shutil.copy(str(wheel), store)
    return store


def debian(archive: Path) -> Path:
    """Debian without apt and documentation, with a user."""
    options = [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in LEFT_OUT]
    options += ["--dpkgopt=path-include=/usr/share/doc/*/copyright", "--mode=auto", "--quiet"]
    user = f"h123:x:{USER}:{USER}::/home/h123:/bin/sh"
    options += [f"--customize-hook=echo {user} >> $1/etc/passwd; echo h123:x:{USER}: >> $1/etc/group"]
    options += ["--customize-hook=mkdir -m 1777 $1/home/h123 $1/data"]
    packages = f"--include={','.join(PACKAGES)}"
    run("mmdebstrap", "--variant=essential", *options, packages, SUITE, str(archive), mirror())
    return archive


def build(system: Path, store: Path, name: str, extras: str) -> None:
    """Installs the packages in the system, and gives the result a name."""
    pip = next(store.glob("pip-*.whl")).name
    install = f"python3 /store/{pip}/pip install --quiet --no-index --find-links /store --root-user-action ignore"
    with container() as made:
        run("buildah", "add", "--quiet", made, str(system))
        tools = ["--runtime", "runc", "--network", "none", "--volume", f"{store}:/store:ro"]
        wanted = f"{install} --break-system-packages 'h123[{extras}]'"
        run("buildah", "run", *tools, made, "--", "sh", "-c", wanted)
        settings = ["--user", f"{USER}:{USER}", "--workingdir", "/data", "--entrypoint", '["h123"]', "--cmd", ""]
        settings += ["--env", "HOME=/home/h123", "--env", "LANG=C.UTF-8"]
        for key, value in labels().items():
            settings += ["--label", f"org.opencontainers.image.{key}={value}"]
        run("buildah", "config", *settings, made)
        run("buildah", "commit", "--quiet", "--timestamp", commit_time(), made, name)


def labels() -> dict[str, str]:
    return {"title": "h123", "version": __version__, "licenses": "Apache-2.0 AND GPL-2.0-only"}


@contextmanager
def container() -> Iterator[str]:
    """An empty one to build in; buildah's name for it."""
    made = run("buildah", "from", "scratch").strip()
    try:
        yield made
    finally:
        run("buildah", "rm", made)


def size(name: str) -> int:
    """Bytes of an image's files, not compressed."""
    return int(json.loads(run("podman", "image", "inspect", name))[0]["Size"])


def commit_time() -> str:
    return run("git", "-C", str(ROOT), "log", "-1", "--format=%ct").strip()


def run(*command: str) -> str:
    """Standard output; ends this program if the command fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed with exit status {done.returncode}; its output is above")
    return done.stdout


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"{error.message}\n  -> {error.remedy}" if error.remedy else error.message)
