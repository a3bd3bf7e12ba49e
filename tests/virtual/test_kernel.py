"""The virtual kernel is built once, whole or not at all, and again when its recipe changes; refusals say what to do."""

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.base.terminal.steps import Steps
from h123.virtual import NAME, Kernel, install_kernel, installed_kernel, kernel, virtual_kernel
from h123.virtual.source import KernelSource, choose, parse_madison
from virtual.toolbox import COMPILE, Toolbox, make_toolbox


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Toolbox:
    assert not cache.exists()
    return make_toolbox(tmp_path / "toolbox", monkeypatch)


def _install() -> tuple[Kernel, str]:
    """The kernel, and what was said."""
    said = io.StringIO()
    with Steps(Console(file=said)) as steps:
        return install_kernel(steps), said.getvalue()


def _leftovers(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir()} - {f"{NAME}.lock", f"{NAME}.log"}


def test_built_once(box: Toolbox, cache: Path) -> None:
    assert installed_kernel() is None
    built, said = _install()
    again, silence = _install()
    assert built == again == installed_kernel()
    assert built.source == KernelSource("linux-source-7.2", "7.2.13-1")
    assert virtual_kernel() == built.path == cache / NAME / "linux"
    assert subprocess.check_output([built.path], text=True) == "7.2.13\n"
    assert box.calls("make ARCH=um linux") == 1
    assert "downloading linux-source-7.2 7.2.13-1" in said
    assert "compiling" in said
    assert silence == ""
    assert _leftovers(cache) == {NAME}
    assert {path.name for path in (cache / NAME).iterdir()} == {"linux", "kernel.json"}


@pytest.mark.parametrize("temporary", ["elsewhere", "my cache"])
def test_a_path_that_make_refuses_is_built_elsewhere(
    box: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: str
) -> None:
    """The kernel's makefile takes no path with spaces or colons, and TMPDIR may have such a path too."""
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "my cache"))
    (tmp_path / "my cache").mkdir()
    with tempfile.TemporaryDirectory(dir="/tmp") as plain:  # pytest's own folders follow TMPDIR
        elsewhere = Path(plain)
        monkeypatch.setattr("tempfile.tempdir", plain if temporary == "elsewhere" else str(tmp_path / temporary))
        monkeypatch.setattr(kernel, "_TEMPORARY", (Path("/no/such/folder"), elsewhere))
        places, run = set[Path](), kernel.run_logged

        def spy(what: str, command: Sequence[str], log: Path, cwd: Path, *rest: Any) -> None:
            places.add(cwd)
            run(what, command, log, cwd, *rest)

        monkeypatch.setattr(kernel, "run_logged", spy)
        built, _ = _install()
        assert built.path == tmp_path / "my cache" / NAME / "linux"
        assert subprocess.check_output([built.path], text=True) == "7.2.13\n"
        assert box.calls("make ARCH=um linux") == 1
        assert all(place.is_relative_to(elsewhere) for place in places)
        assert not list(elsewhere.iterdir())


@pytest.mark.usefixtures("box")
def test_no_path_that_make_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = tmp_path / "my: cache"
    refused.mkdir()
    monkeypatch.setenv("H123_CACHE", str(refused))
    monkeypatch.setattr("tempfile.tempdir", str(refused))
    monkeypatch.setattr(kernel, "_TEMPORARY", (refused,))
    with pytest.raises(UserError, match="spaces or colons"):
        _install()


def test_another_configuration_is_built_again(box: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install()
    before = kernel.recipe()
    fragment = tmp_path / "kernel.config"
    fragment.write_text(f"{kernel._fragment().read_text()}CONFIG_MORE=y\n")
    monkeypatch.setattr(kernel, "_fragment", lambda: fragment)
    assert kernel.recipe() != before
    assert installed_kernel() is None
    with pytest.raises(UserError, match="not installed"):
        virtual_kernel()
    _install()
    assert installed_kernel() is not None
    assert box.calls("make ARCH=um linux") == 2


@pytest.mark.parametrize("damage", ["no stamp", "half a stamp", "another format"])
def test_half_an_installation_is_none(box: Toolbox, damage: str) -> None:
    stamp = _install()[0].path.with_name("kernel.json")
    match damage:
        case "no stamp":
            stamp.unlink()
        case "half a stamp":
            stamp.write_text(stamp.read_text()[:40])
        case "another format":
            stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"h123": "virtual-kernel/0"}))
    assert installed_kernel() is None
    assert _install()[0] == installed_kernel()
    assert box.calls("make ARCH=um linux") == 2


def test_a_failed_build_shows_its_end_and_leaves_nothing(box: Toolbox, cache: Path) -> None:
    box.compile("echo 'no such header' >&2; exit 2")
    with pytest.raises(UserError) as failed:
        _install()
    assert "status 2" in failed.value.message
    assert "no such header" in failed.value.message
    assert str(cache / f"{NAME}.log") in (failed.value.remedy or "")
    assert installed_kernel() is None
    assert _leftovers(cache) == set()


def test_a_binary_that_does_not_run_is_no_kernel(box: Toolbox) -> None:
    box.compile("printf '#!/bin/sh\\nexit 4\\n' > linux; chmod +x linux")
    with pytest.raises(UserError, match="status 4"):
        _install()
    assert installed_kernel() is None


def test_an_option_that_kconfig_drops_is_not_missed_silently(box: Toolbox) -> None:
    box.lost("CONFIG_NET_SCH_NETEM")
    with pytest.raises(UserError, match=r"has no CONFIG_NET_SCH_NETEM=y; .*kernel\.config"):
        _install()
    assert box.calls("make ARCH=um linux") == 0


INSTALL = """
from rich.console import Console
from h123.base.terminal.steps import Steps
from h123.virtual import install_kernel, kernel
kernel._ROOM_BYTES = 1
with Steps(Console()) as steps:
    install_kernel(steps)
"""


def test_a_killed_build_is_never_taken_for_whole(box: Toolbox, cache: Path) -> None:
    box.compile('n=0; while [ ! -e "$TOOLS/go" ] && [ $n -lt 30000 ]; do sleep 0.01; n=$((n+1)); done\n' + COMPILE)
    env = {**os.environ, "PYTHONPATH": str(project_root() / "src")}
    process = subprocess.Popen([sys.executable, "-c", INSTALL], env=env, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not box.calls("make ARCH=um linux"):
        assert time.monotonic() < deadline, "the build did not begin"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(120)
    (box.folder / "go").touch()
    assert installed_kernel() is None
    _install()
    assert installed_kernel() is not None
    assert _leftovers(cache) == {NAME}


def test_missing_tools_are_named_with_their_packages(box: Toolbox) -> None:
    box.remove("flex", "gcc")
    with pytest.raises(UserError, match="gcc, flex") as refused:
        _install()
    assert refused.value.remedy == "apt-get install --no-install-recommends gcc libc6-dev flex"
    assert refused.value.status == 3


@pytest.mark.parametrize("targets", ["", "Packages Ubuntu Ubuntu http://mirror/ubuntu/\n"])
def test_without_a_debian_mirror(box: Toolbox, targets: str) -> None:
    box.targets(targets)
    with pytest.raises(UserError, match="no Debian mirror") as refused:
        _install()
    assert refused.value.status == 3


def test_no_room(box: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_ROOM_BYTES", 10**18)
    with pytest.raises(UserError, match="disk"):
        _install()
    assert box.calls("apt-get") == 0


def test_suites_are_asked_until_the_tried_release_is_there(box: Toolbox) -> None:
    box.suites(sid="linux-source-7.4 7.4.1-1", trixie_backports="linux-source-7.2 7.2.9-1~bpo13+1", bookworm="none 1")
    assert _install()[0].source == KernelSource("linux-source-7.2", "7.2.9-1~bpo13+1")
    assert box.calls("update") == 2


def test_an_old_mirror_gives_an_old_kernel_and_a_warning(box: Toolbox) -> None:
    box.suites(bookworm="linux-source-6.1 6.1.170-1")
    built, said = _install()
    assert built.source.release == (6, 1)
    assert "WARNING: the mirror has nothing newer than linux-source-6.1" in said


def test_nothing_usable(box: Toolbox) -> None:
    box.suites(bookworm="linux-source-5.10 5.10.1-1")
    with pytest.raises(UserError, match=r"no linux-source-6\.1 or newer"):
        _install()


def test_the_choice_among_releases() -> None:
    tried, newer, old = (KernelSource(f"linux-source-{release}", "1") for release in ("7.2", "7.10", "6.1"))
    assert choose([old, newer, tried]) == tried
    assert choose([old, newer, KernelSource("linux-source-7.9", "1")]) == newer
    assert choose([old]) == old


def test_the_newest_version_of_each_package() -> None:
    lines = [f"linux-source-7.2 | {version} | mirror trixie-backports/main" for version in ("7.2.12-1", "7.2.9-1")]
    assert parse_madison("\n".join(lines)) == [KernelSource("linux-source-7.2", "7.2.12-1")]


def test_a_kernel_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("H123_KERNEL", str(tmp_path / "linux"))
    assert virtual_kernel() == tmp_path / "linux"
