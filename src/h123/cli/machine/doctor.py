"""`h123 doctor`: checks the lab and the Python program, and reports what this machine can do."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from h123.base.errors import UserError
from h123.base.paths import cache_folder, checkout, lab_binary, lab_remedy
from h123.base.terminal.console import out_console, print_json, write
from h123.cli.answer_form import JsonOption

_TUN = "modprobe tun; in a container: --privileged --device /dev/net/tun"
_PROFILE = Path(__file__).with_name("h123-lab.apparmor")
_ROOM_BYTES = 2_000_000_000
_GO, _RUST = (1, 26), "1.89"


def command(
    apparmor: Annotated[
        bool,
        typer.Option(
            "--apparmor", help="Print the AppArmor profile that lets h123 create user namespaces, and how to load it."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check which kinds of measurements this machine can run, and show how to enable the others.

    Examples:

    `h123 doctor`

    `h123 doctor --json`
    """
    if apparmor:
        print(_PROFILE.read_text(encoding="utf-8").replace("@LAB@", str(lab_binary().resolve())), end="")
        return
    checks = diagnose()
    if as_json:
        print_json(checks)
    for check in checks if not as_json else ():
        mark, style = ("ok", "green") if check.ok else ("missing", "red") if check.needed else ("limited", "yellow")
        write(out_console, f"{check.name}: {check.detail}", lead=f"{mark:8}", lead_style=style)
        if check.remedy and not check.ok:
            write(out_console, check.remedy, lead=f"{'':8}-> ")
    if not all(check.ok or not check.needed for check in checks):
        raise typer.Exit(3)


@dataclass(frozen=True)
class MachineCheck:
    """The result of checking one capability of the machine. Without a `needed` capability, h123 cannot measure
    anything. If another capability is missing, measurements are less accurate, or some of them are impossible."""

    name: str
    ok: bool
    detail: str
    remedy: str | None = None
    needed: bool = False


def diagnose() -> list[MachineCheck]:
    """Run all checks, in the order in which problems should be fixed."""
    return [*_control_plane(), *_lab(), *_ways()]


def _lab() -> list[MachineCheck]:
    """Check what the lab needs: namespaces, TUN, real-time priority, buffers, congestion controllers."""
    if not lab_binary().is_file():
        return [*_without_lab()]
    process = subprocess.run([str(lab_binary()), "doctor", "--json"], capture_output=True, text=True, check=False)
    try:
        return [MachineCheck(**check) for check in json.loads(process.stdout)]
    except (ValueError, TypeError):
        raise UserError(f"h123-lab doctor failed: {process.stderr.strip()}", remedy=lab_remedy(), status=3) from None


def _ways() -> Iterator[MachineCheck]:
    """Yield the ways to run trials, best first. `h123 run` uses the first that is available."""
    from h123.documents.campaign_file import PRIVILEGES
    from h123.execution import ways

    if not lab_binary().is_file():
        return
    offer = ways()
    for way in offer.ways:
        note = "; trials run this way here" if way.way == offer.chosen else ""
        yield MachineCheck(PRIVILEGES[way.way], way.open, f"{way.detail}{note}", way.remedy)


def _without_lab() -> Iterator[MachineCheck]:
    """Yield the checks that work before the lab is built."""
    root, tun = os.geteuid() == 0, Path("/dev/net/tun").exists()
    yield MachineCheck("root", root, "running as root" if root else "not running as root", "sudo $(command -v h123)")
    yield MachineCheck("tun", tun, "/dev/net/tun is there" if tun else "/dev/net/tun is missing", _TUN, needed=True)
    if checkout():
        found, remedy = "not built", "install Rust, then run `./h123 doctor` again: it checks the rest"
    else:
        found, remedy = "missing", lab_remedy()
    yield MachineCheck("lab", False, found, remedy, needed=True)


def _control_plane() -> list[MachineCheck]:
    from h123.virtual import NAME, installed_kernel

    free = shutil.disk_usage(next(path for path in cache_folder().resolve().parents if path.exists())).free
    kernel = installed_kernel()
    built = f"{kernel.source.package} {kernel.source.version}" if kernel else "not installed"
    return [
        MachineCheck("disk space", free >= _ROOM_BYTES, f"{free / 1e9:.1f} GB free", "free up at least 2 GB"),
        _rust(),
        _go(),
        _subjects(),
        MachineCheck(
            "virtual clock", kernel is not None, built, f"`h123 install {NAME}` builds what `--clock virtual` needs"
        ),
    ]


def _subjects() -> MachineCheck:
    """Check that installed subjects still have the files that their commands need."""
    from h123.catalogue import catalogue, damage

    broken = {subject.name: missing for subject in catalogue().values() if (missing := damage(subject))}
    if not broken:
        return MachineCheck("subjects", True, "all installed subjects are complete")
    phrases = ", ".join(f"{name} lacks {missing}" for name, missing in broken.items())
    return MachineCheck("subjects", False, phrases, f"`h123 install {' '.join(broken)}` rebuilds what is broken")


def _rust() -> MachineCheck:
    path, built = shutil.which("cargo"), lab_binary().is_file()
    if path is None and checkout() is None:
        return MachineCheck(
            "Rust", True, "not found; needed only for subjects in Rust, because the package contains the lab"
        )
    return MachineCheck(
        "Rust",
        path is not None or built,
        path or ("cargo not found, but the lab is built" if built else "not found"),
        f"install Rust {_RUST} or newer, which the lab is built with: https://rustup.rs (Debian's is older)",
    )


def _go() -> MachineCheck:
    path = shutil.which("go")
    if path is None and checkout() is None:
        return MachineCheck(
            "Go", True, "not found; needed only for other subjects in Go, because the package contains h123's own"
        )
    version = _go_version(path) if path else ()
    version_text = f"{'.'.join(map(str, version))}, {path}" if version else path
    needed = ".".join(map(str, _GO))
    return MachineCheck(
        "Go",
        version >= _GO,
        version_text or "not found",
        f"install Go {needed} or newer, which the subject `go` is built with: https://go.dev/dl",
    )


def _go_version(path: str) -> tuple[int, ...]:
    """Return the version of the installed Go (not of one that Go would download), or an empty tuple if unknown."""
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    process = subprocess.run([path, "env", "GOVERSION"], capture_output=True, text=True, check=False, env=environment)
    match = re.match(r"go(\d+)\.(\d+)", process.stdout)
    return tuple(map(int, match.groups())) if match else ()
