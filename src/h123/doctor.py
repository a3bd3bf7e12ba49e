"""What this machine can do: the lab's own checks, and those of the control plane."""

import json
import shutil
import subprocess
from dataclasses import dataclass

from h123.errors import UserError
from h123.paths import cache_folder, lab_binary
from h123.virtual import NAME, installed_kernel

_ROOM_BYTES = 2_000_000_000


@dataclass(frozen=True)
class Check:
    """One capability. `needed`: nothing can be measured without it; the others cost accuracy or choice."""

    name: str
    ok: bool
    detail: str
    remedy: str | None = None
    needed: bool = False


def diagnose() -> list[Check]:
    """All checks, in the order in which to mend them."""
    return [*_control_plane(), *_lab()]


def _lab() -> list[Check]:
    """The data plane's checks: namespaces, TUN, real-time priority, buffers, congestion controllers."""
    done = subprocess.run([str(lab_binary()), "doctor", "--json"], capture_output=True, text=True, check=False)
    try:
        return [Check(**check) for check in json.loads(done.stdout)]
    except (ValueError, TypeError):
        raise UserError(f"h123-lab doctor failed: {done.stderr.strip()}", remedy="run `make setup`", status=3) from None


def _control_plane() -> list[Check]:
    free = shutil.disk_usage(cache_folder().parent).free
    go = shutil.which("go")
    kernel = installed_kernel()
    built = f"{kernel.source.package} {kernel.source.version}" if kernel else "not installed"
    return [
        Check("disk space", free >= _ROOM_BYTES, f"{free / 1e9:.1f} GB free", "free at least 2 GB"),
        Check("Go", go is not None, go or "not found", "Go 1.26 or newer builds the subject `go`"),
        Check("virtual clock", kernel is not None, built, f"`h123 install {NAME}` builds what `--clock virtual` needs"),
    ]
