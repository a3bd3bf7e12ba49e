"""Measures the link in real time, as root and as a user in a user namespace, by running `h123-lab bench` both ways."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from h123.base.errors import UserError
from h123.base.paths import lab_binary

_USER = 65_534
_OPEN_TUN = 'mknod -m 666 "$1/tun" c 10 200 && mount --bind "$1/tun" /dev/net/tun && shift && exec "$@"'
"""Opens the TUN device in a private mount namespace, so that the machine's device keeps its mode."""


def main() -> int:
    """Print a table. Return exit status 1 if a bar is missed as root. Bars that are missed as a user are only shown."""
    if os.geteuid() != 0:
        raise UserError("only root can measure both ways", remedy="use sudo", status=3)
    root = _figures([str(lab_binary()), "bench", "--json"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        lab = shutil.copy(lab_binary(), folder / "h123-lab")
        Path(lab).chmod(0o755)
        opened = ["unshare", "-m", "sh", "-c", _OPEN_TUN, "sh", name]
        user = ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups", "--inh-caps=-all"]
        unprivileged = _figures([*opened, *user, "--bounding-set=-all", str(lab), "bench", "--json"])
    print("| load | figure | configured | as root | in a user namespace | requirement | met as root, as a user |")
    print("|---|---|---|---|---|---|---|")
    for mine, theirs in zip(root, unprivileged, strict=True):
        met = ", ".join("yes" if row["met"] else "**no**" for row in (mine, theirs))
        told = (
            mine["load"],
            mine["figure"],
            mine["configured"],
            mine["measured"],
            theirs["measured"],
            mine["bar"],
            met,
        )
        print("| " + " | ".join(told) + " |")
    return 0 if all(row["met"] for row in root) else 1


def _figures(command: list[str]) -> list[dict[str, Any]]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        rows: list[dict[str, Any]] = json.loads(done.stdout)
    except ValueError:
        raise UserError(f"h123-lab bench failed: {done.stderr.strip()}", status=3) from None
    return rows
