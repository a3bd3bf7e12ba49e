"""The wheel for aarch64, built on x86-64. Its programs run in QEMU, which emulates the processor and not the kernel,
so they can start, and no trial can run."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from built_wheels import run
from h123.base.paths import project_root

ROOT = project_root()
sys.path.append(str(ROOT / "packaging"))

from cross import unpack  # noqa: E402

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="builds for aarch64 on x86-64"),
]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PLATFORMS = {name: [f"manylinux_2_{glibc}_{name}" for glibc in (17, 28)] for name in ("x86_64", "aarch64")}


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel, below the wheel itself."""
    out = tmp_path_factory.mktemp("aarch64")
    run(["make", ".cache/packaging/stamp"], cwd=ROOT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "H123_ROOT": str(ROOT)}
    built = run([sys.executable, ROOT / "packaging/build.py", "--machine", "aarch64", "--out", out], env=environment)
    with zipfile.ZipFile(built.splitlines()[-1]) as wheel:
        wheel.extractall(out / "content")
    return out / "content"


def test_it_is_for_old_systems(content: Path) -> None:
    (wheel,) = content.parent.glob("*.whl")
    assert wheel.name.endswith("-py3-none-manylinux_2_28_aarch64.whl")
    shown = " ".join(run([ROOT / ".cache/packaging/bin/python", "-m", "auditwheel", "show", wheel]).split())
    assert 'consistent with the following platform tag: "manylinux_2_28_aarch64"' in shown


def test_its_programs_start(content: Path, tmp_path: Path) -> None:
    unpack(["qemu-user-static:amd64", "libc6:arm64", "libgcc-s1:arm64"], tmp_path / "system")
    emulator = [tmp_path / "system/usr/bin/qemu-aarch64-static", "-L", tmp_path / "system"]
    lab, go = (content / "h123/data/prebuilt" / name for name in ("h123-lab", "subjects/go/h123-go"))
    for program in (lab, go):
        program.chmod(0o755)  # zipfile forgets it
    assert run([*emulator, lab, "--version"]).startswith("h123-lab ")
    shown = subprocess.run([*emulator, go, "--help"], capture_output=True, text=True)
    assert "serve" in shown.stdout + shown.stderr


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("machine", sorted(PLATFORMS))
def test_what_h123_needs_comes_without_compiling(machine: str, python: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--target", tmp_path, "--no-deps"]
    command += [f"--platform={platform}" for platform in PLATFORMS[machine]]
    command += ["--python-version", python, "--only-binary", ":all:", "--require-hashes"]
    run([*command, "-r", ROOT / "requirements/run.txt"])
