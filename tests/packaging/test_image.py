"""What `make image` builds, in containers as Docker and podman start them."""

import hashlib
import json
import os
import resource
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from built_wheels import run
from h123.base.paths import project_root

pytestmark = pytest.mark.heavy

NAME = "localhost/h123-test"
MOST_BYTES = 400_000_000
TOOLS = {"buildah": "buildah", "podman": "podman", "runc": "runc", "mmdebstrap": "mmdebstrap"}
PROFILES = "github.com/moby/profiles/seccomp@v0.3.0"
PROFILES_SUM = "h1:1vJ94fIWXz206DLWq7ddPD6qLP82N7351JI/9iGy3IY="
SMALL = ["run", "quick", "--seed", "1", "--blocks", "2"]
ROOT = ["--privileged", "--user", "0"]
TIMED = ("event.json", "seal.json")
"""A trial's line in the journal, and what seals its files together with it."""


@dataclass(frozen=True)
class Containers:
    """Starts them from the image, each with `folder` as its working directory."""

    folder: Path
    profile: Path

    def docker(self, *arguments: str, options: list[str] | None = None) -> str:
        """With Docker's default filter for system calls."""
        return self.podman(*arguments, options=[f"--security-opt=seccomp={self.profile}", *(options or [])])

    def podman(self, *arguments: str, options: list[str] | None = None) -> str:
        """With podman's defaults, and limits that this machine can grant."""
        files, processes = (resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
        limits = [f"--ulimit=nofile={files}:{files}", f"--ulimit=nproc={min(processes, 32768)}"]
        command = ["podman", "--runtime", "runc", "run", "--rm", "--network", "none", *limits, *(options or [])]
        return run([*command, "--volume", f"{self.folder}:/data", NAME, *arguments])


@pytest.fixture(scope="module")
def image(wheels: list[Path]) -> Iterator[str]:
    """The line that `make image` prints."""
    if missing := [package for program, package in TOOLS.items() if shutil.which(program) is None]:
        run(["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *missing])
    environment = {**os.environ, "PYTHONPATH": str(project_root() / "src")}
    builder = [sys.executable, project_root() / "packaging/image.py", "--name", NAME, "--wheels", wheels[0].parent]
    yield run(builder, env=environment)
    run(["podman", "image", "rm", "--force", NAME])


@pytest.fixture
def containers(image: str, tmp_path: Path) -> Containers:
    """Docker's own profile comes with a module of Go."""
    assert image.startswith(NAME)
    module = json.loads(run(["go", "mod", "download", "-json", PROFILES], cwd=tmp_path))
    assert module["Sum"] == PROFILES_SUM
    tmp_path.chmod(0o777)
    return Containers(tmp_path, Path(module["Dir"], "default.json"))


def test_the_image_is_small(image: str) -> None:
    shown = json.loads(run(["podman", "image", "inspect", NAME]))
    assert shown[0]["Size"] <= MOST_BYTES
    assert f"{shown[0]['Size'] / 1e6:.0f} MB" in image


def test_virtual_trials_under_dockers_filter_repeat_and_are_those_of_root(containers: Containers) -> None:
    """To the byte: all files of all trials."""
    virtual = [*SMALL, "--clock", "virtual", "--out"]
    containers.docker(*virtual, "first")
    containers.docker(*virtual, "second")
    containers.podman(*virtual, "root", options=ROOT)
    first, second, root = (digests(containers.folder / name / "trials") for name in ("first", "second", "root"))
    assert len(first) > 10
    assert first == second == root
    assert [ways(containers.folder / name) for name in ("first", "root")] == [["virtual-clock"], ["root"]]


def test_trials_in_real_time_run_in_a_user_namespace_of_a_container(containers: Containers) -> None:
    """podman's filter allows namespaces, and /proc must be whole. The device is open to users, as on most systems."""
    tun = containers.folder / "tun"
    run(["mknod", "-m", "666", tun, "c", "10", "200"])
    options = ["--security-opt=unmask=/proc/*", f"--device={tun}:/dev/net/tun"]
    shown = containers.podman("run", "smoke", "--out", "wall", options=options)
    assert "8 of 8 trials valid" in shown
    assert ways(containers.folder / "wall") == ["user-namespace"]


def test_what_keeps_trials_from_real_time_is_named_in_three_lines(containers: Containers) -> None:
    for start, cause in (
        (containers.docker, "a filter for system calls refuses namespaces"),
        (containers.podman, "parts of /proc are masked"),
    ):
        refused = start("-c", "h123 run quick 2>&1 || true", options=["--entrypoint=sh"]).splitlines()
        assert cause in refused[0]
        assert [len(line) <= 80 for line in refused] == [True] * 3


def digests(folder: Path) -> dict[str, str]:
    """Of all files but those that have times of the wall clock."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in TIMED]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def ways(campaign: Path) -> list[str]:
    """Those that trials ran in."""
    privileges: list[str] = json.loads((campaign / "verdicts.json").read_text())["privileges"]
    return privileges
