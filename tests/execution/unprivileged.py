"""Commands as a user that is not root, on a machine that leaves it more or less."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from h123.base.paths import lab_binary

SOMEBODY = 65_534
PATIENCE_S = 120
_FILTER = Path(__file__).with_name("container_filter.py")
_OPEN_TUN = """
mknod -m "$1" "$2/tun" c 10 200 && mount --bind "$2/tun" /dev/net/tun
shift 2
exec "$@"
"""
"""In mounts of its own: the machine's device keeps its mode."""


class Somebody:
    """Starts commands; `folder` is the user's own, and has a copy of the lab that the user can read."""

    def __init__(self, folder: Path, *, tun: bool = True, filtered: bool = False, traces: bool = True) -> None:
        self.folder, self._tun = folder, tun
        unable = [] if traces else ["no-ptrace"]
        self._filter = ["/usr/bin/python3", str(folder / _FILTER.name), *unable] if filtered else []
        self.lab = folder / "h123-lab"
        if not self.lab.exists():
            shutil.copy(lab_binary(), self.lab)
            self.lab.chmod(0o755)

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        mode = "666" if self._tun else "600"
        for path in self.folder.iterdir():  # whatever the umask
            os.chown(path, SOMEBODY, SOMEBODY)
        with tempfile.TemporaryDirectory() as devices:
            opened = ["unshare", "-m", "sh", "-c", _OPEN_TUN, "sh", mode, devices]
            user = ["setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups", "--inh-caps=-all"]
            return subprocess.run(
                [*opened, *user, "--bounding-set=-all", *self._filter, *command],
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )


@contextmanager
def somebody(*, tun: bool = True, filtered: bool = False, traces: bool = True) -> Iterator[Somebody]:
    """In a folder that others can reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="somebody-") as name:
        folder = Path(name)
        shutil.copy(_FILTER, folder)
        os.chown(folder, SOMEBODY, SOMEBODY)
        folder.chmod(0o755)
        yield Somebody(folder, tun=tun, filtered=filtered, traces=traces)


def why_not() -> str | None:
    """Why this machine cannot try a user namespace; None: it can."""
    if os.geteuid() != 0:
        return "only root can become another user"
    if sys.platform != "linux" or not shutil.which("setpriv"):
        return "setpriv is missing"
    done = subprocess.run(
        ["setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups", "unshare", "-Urn", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"this machine has no user namespaces for users: {done.stderr.strip()}" if done.returncode else None
