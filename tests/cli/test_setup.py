"""The launcher's set-up, in a checkout of the test's own that needs no packages: what is broken is made again."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_S, ROOT

AGAIN = "creating it again"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with its environment, as after the first use."""
    checkout = tmp_path_factory.mktemp("set up") / "h123 – checkout"
    for folder in ("requirements", "src/h123", "lab/target/release"):
        (checkout / folder).mkdir(parents=True)
    for name in ("Makefile", "h123"):
        shutil.copy2(ROOT / name, checkout)
    (checkout / "requirements/run.txt").touch()
    (checkout / "src/h123/__main__.py").write_text("import sys\nprint('runs', sys.prefix)\n")
    (checkout / "lab/target/release/h123-lab").touch()
    done = _start(checkout)
    assert done.returncode == 0, done.stderr
    assert AGAIN not in done.stderr
    return checkout


@pytest.fixture
def checkout(made: Path, tmp_path: Path) -> Path:
    """A copy of it, in a place of its own."""
    return shutil.copytree(made, tmp_path / "moved", symlinks=True)


def _start(
    checkout: Path, *words: str, before: Sequence[str] = (), **environment: str
) -> "subprocess.CompletedProcess[str]":
    python = sys.executable.replace(" ", "\\ ")
    env = {**os.environ, "MAKEFLAGS": f"PYTHON={python}", **environment}
    command = [*before, checkout / "h123", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def _site_packages(environment: Path) -> Path:
    return next(environment.glob("lib/python*/site-packages"))


def _python_gone(environment: Path) -> None:
    for program in environment.glob("bin/python*"):
        program.unlink()
        program.symlink_to("/usr/bin/python3.0")


BROKEN: dict[str, Callable[[Path], object]] = {
    "no pip": lambda environment: shutil.rmtree(_site_packages(environment) / "pip"),
    "its Python has gone": _python_gone,
    "its Python is another one": lambda it: _site_packages(it).parent.rename(it / "lib/python3.0"),
    "nothing but a folder": lambda environment: (shutil.rmtree(environment), environment.mkdir()),
}


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(how, id=name, marks=[] if name == "its Python has gone" else pytest.mark.heavy)
        for name, how in BROKEN.items()
    ],
)
def test_a_broken_environment_is_made_again(checkout: Path, broken: Callable[[Path], object]) -> None:
    broken(checkout / ".venv")
    done = _start(checkout)
    assert (done.returncode, done.stdout) == (0, f"runs {checkout}/.venv\n"), done.stderr
    assert done.stderr.count(AGAIN) == 1
    assert not _start(checkout).stderr


def test_a_good_environment_is_left_alone_wherever_the_checkout_has_gone(checkout: Path) -> None:
    (checkout / ".venv/mark").touch()
    done = _start(checkout)
    assert (done.returncode, done.stderr) == (0, "")
    (checkout / "requirements/run.txt").write_text("# another version of something\n")
    done = _start(checkout)
    assert done.returncode == 0, done.stderr
    assert AGAIN not in done.stderr
    assert (checkout / ".venv/mark").exists()


def test_a_python_without_venv_is_said_with_its_package(checkout: Path, tmp_path: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    (tmp_path / "ensurepip.py").write_text("raise ModuleNotFoundError\n")  # as Debian has it without python3-venv
    done = _start(checkout, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "apt install python3-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_two_makes_at_once_set_up_one_environment(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    command = ["make", "--no-print-directory", f"PYTHON={sys.executable}", "environment"]
    makes = [
        subprocess.Popen(command, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in "12"
    ]
    said = "".join(make.communicate(timeout=PATIENCE_S)[0] for make in makes)
    assert [make.returncode for make in makes] == [0, 0], said
    assert said.count("setting up") == 1
    assert not _start(checkout).stderr


def test_a_set_up_that_is_interrupted_prints_no_traceback(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    command = ["env", "--default-signal=INT", checkout / "h123"]
    env = {**os.environ, "MAKEFLAGS": "PYTHON=" + sys.executable.replace(" ", "\\ ")}
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True, process_group=0)
    deadline = time.monotonic() + PATIENCE_S
    while not (checkout / ".venv/pyvenv.cfg").exists():  # pip is installed now
        assert time.monotonic() < deadline, "no environment is made"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 130, said
    assert "h123: interrupted" in said
    assert "Traceback" not in said
    assert _start(checkout).returncode == 0


TOOLS = ("sh", "env", "make", "flock", "readlink", "dirname", "stat", "mkdir", "find", "touch", "nproc", "cat")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A PATH without Rust and Go."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


def test_what_measures_nothing_needs_no_rust_and_no_go(checkout: Path, bare: Path) -> None:
    (checkout / "lab/target/release/h123-lab").unlink()
    for words in (["plan", "quick"], ["import"], ["analyse", "run"], ["--help"], ["compare", "--help"], ["doctor"], []):
        done = _start(checkout, *words, PATH=str(bare))
        assert (done.returncode, done.stderr) == (0, ""), words
    for words in (["run", "quick"], ["compare"], ["lab", "bench"]):
        done = _start(checkout, *words, PATH=str(bare))
        assert (done.returncode, done.stdout) == (1, "")
        assert "Rust 1.89" in done.stderr
        assert "Go 1.26" in done.stderr
        assert len(done.stderr.splitlines()) == 2
    (bare / "go").symlink_to("/bin/true")
    assert "Go 1.26" not in _start(checkout, "run", PATH=str(bare)).stderr


def test_the_real_commands_need_none_either(tmp_path: Path) -> None:
    """Not even the lab that is built."""
    env = {**os.environ, "H123_LAB": str(tmp_path / "none"), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src")}
    for words in (["plan", "quick"], ["list", "networks"], ["import", "--help"]):
        command = [sys.executable, "-m", "h123", *words]
        done = subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 0, done.stderr
    command = [sys.executable, "-m", "h123", "doctor"]
    done = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 3
    for said in ("Rust:", "Go:", "root:", "tun:", "lab: not built"):
        assert said in done.stdout


NOBODY = 65_534


def _as_nobody() -> list[str]:
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")
@pytest.mark.parametrize("who", ["root", "nobody"])
@pytest.mark.parametrize("broken", [True, False])
def test_the_environment_of_another_user_is_left_alone(checkout: Path, who: str, broken: bool) -> None:
    environment = checkout / ".venv"
    if broken:
        _python_gone(environment)
    else:
        (checkout / "requirements/run.txt").write_text("# another version of something\n")
    if who == "root":
        subprocess.run(["chown", "-R", str(NOBODY), checkout], check=True)
    else:
        for folder in (checkout, *checkout.parents):
            if folder.owner() == "root" and folder.is_relative_to("/tmp"):
                folder.chmod(folder.stat().st_mode | 0o055)
    before = _state(environment)
    done = _start(checkout, "plan", before=_as_nobody() if who == "nobody" else ())
    assert done.returncode == 1
    assert f"belongs to {'nobody' if who == 'root' else 'root'}" in done.stderr
    assert "use a copy of yours" in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert _state(environment) == before


def _state(folder: Path) -> list[tuple[str, float]]:
    return sorted((str(path), path.lstat().st_mtime) for path in folder.rglob("*") if "__pycache__" not in path.parts)


def test_the_program_learns_how_it_was_called(checkout: Path, tmp_path: Path) -> None:
    """Its messages print commands to copy: ./h123 in a checkout, h123 where the PATH has it."""
    (checkout / "src/h123/__main__.py").write_text("import os\nprint(os.environ['H123_CALLED'])\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/h123").symlink_to(checkout / "h123")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    for command, called in (("./h123", "./h123"), (str(checkout / "h123"), str(checkout / "h123")), ("h123", "h123")):
        python = sys.executable.replace(" ", "\\ ")
        env = {**os.environ, "MAKEFLAGS": f"PYTHON={python}", "PATH": path}
        done = subprocess.run(["sh", "-c", '"$0"', command], cwd=checkout, env=env, capture_output=True, text=True)
        assert done.stdout == f"{called}\n", done.stderr
