"""Builds h123's wheels: `make wheel`, or packaging/build.py [--machine x86_64|aarch64] [--kernel] [--out FOLDER].

The same commit gives the same bytes, wherever the checkout is: compilers get no path of it, archives get the commit's
time, and only files that git tracks are packed.
"""

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from h123.base.terminal.console import err_console
from h123.base.terminal.steps import Steps
from h123.catalogue import read_subject
from h123.catalogue.install import STAMP, Installation, recipe
from h123.virtual import install_kernel, installed_kernel

ROOT = Path(__file__).resolve().parents[1]
DATA = [
    "claims",
    "dashboards",
    "docs/results",
    "docs/verified",
    "networks",
    "published",
    "schemas",
    "sites",
    "knobs",
    "studies",
    "subjects",
]
NO_DATA = (".html", ".md", ".svg", ".txt")
"""Below docs/results: pages for readers, which the program does not need."""
GLIBC = {"x86_64": "2.28", "aarch64": "2.28"}
LICENCE = Path("/usr/share/common-licenses/GPL-2")
"""The kernel's licence, which every Debian has; the kernel is built from Debian's source."""
GO_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}


def main() -> None:
    """Prints the paths of the wheels."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--machine", choices=sorted(GLIBC), default=os.uname().machine)
    options.add_argument("--kernel", action="store_true", help="also build the wheel of the virtual clock's kernel")
    options.add_argument("--out", type=Path, default=ROOT / "dist")
    given = options.parse_args()
    out = given.out.resolve()
    with tempfile.TemporaryDirectory(prefix="h123-wheel-") as folder:
        content = Path(folder, "content")
        data = content / "h123" / "data"
        _copy_tracked(data)
        _build_lab(given.machine, data / "prebuilt" / "h123-lab")
        _build_go(given.machine, data / "prebuilt" / "subjects" / "go")
        print(_wheel(ROOT, content, f"manylinux_{GLIBC[given.machine].replace('.', '_')}_{given.machine}", out))
    if given.kernel:
        with tempfile.TemporaryDirectory(prefix="h123-wheel-") as folder:
            _copy_kernel(Path(folder, "h123_virtual_kernel"))
            print(_wheel(ROOT / "packaging/virtual-kernel", Path(folder), "manylinux_2_34_x86_64", out))


def _copy_tracked(data: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z", "--", *DATA], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if name.startswith("docs/results/") and name.endswith(NO_DATA):
            continue
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, data / name, follow_symlinks=True)


def _build_lab(machine: str, program: Path) -> None:
    """With Zig's linker, which can link for an older glibc than this machine's."""
    target, build = f"{machine}-unknown-linux-gnu", ROOT / ".cache/wheel/lab"
    cargo_home = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    flags = ["-C", "strip=symbols", f"--remap-path-prefix={ROOT}=/h123", f"--remap-path-prefix={cargo_home}=/cargo"]
    command = ["cargo", "zigbuild", "--release", "--locked", "--quiet"]
    command += ["--target", f"{target}.{GLIBC[machine]}", "--target-dir", str(build)]
    _run(command, ROOT / "lab", {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags)})
    program.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(build / target / "release/h123-lab", program)


def _build_go(machine: str, folder: Path) -> None:
    """The embedded subject, without glibc."""
    subject = read_subject(ROOT / "subjects/go")
    folder.mkdir(parents=True)
    environment = {"CGO_ENABLED": "0", "GOARCH": GO_NAMES[machine], "GOTOOLCHAIN": "local"}
    flags = {"GOFLAGS": "-trimpath -buildvcs=false -ldflags=-s"}
    _run([subject.install.build[0], str(folder), subject.install.build[2]], subject.folder, environment | flags)
    size = sum(path.stat().st_size for path in folder.iterdir())
    (folder / STAMP).write_text(json.dumps(dataclasses.asdict(Installation(recipe(subject), 0, size))) + "\n")


def _copy_kernel(folder: Path) -> None:
    with Steps(err_console) as steps:
        install_kernel(steps)
    kernel = installed_kernel()
    assert kernel is not None
    folder.mkdir()
    for path in (kernel.path, kernel.path.with_name("kernel.json"), ROOT / "src/h123/virtual/kernel.config"):
        shutil.copy(path, folder)
    if not LICENCE.is_file():
        sys.exit(f"{LICENCE} is missing; build the kernel's wheel on Debian")
    shutil.copy(LICENCE, folder / "COPYING")


def _wheel(project: Path, content: Path, platform: str, out: Path) -> Path:
    """Hatchling writes archives with the same bytes for the same files and SOURCE_DATE_EPOCH."""
    time = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    environment = {
        "H123_WHEEL_CONTENT": str(content),
        "H123_WHEEL_PLATFORM": platform,
        "SOURCE_DATE_EPOCH": time.stdout.strip(),
    }
    with tempfile.TemporaryDirectory(prefix="h123-wheel-") as fresh:
        _run([_tool("python"), "-m", "hatchling", "build", "-t", "wheel", "-d", fresh], project, environment)
        [built] = Path(fresh).glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(built, out / built.name))


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    tools = {"PATH": f"{ROOT / '.cache/packaging/bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment, **tools}, stdout=sys.stderr, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed with exit status {done.returncode}; its output is above")


def _tool(name: str) -> str:
    return str(ROOT / ".cache/packaging/bin" / name)


if __name__ == "__main__":
    main()
