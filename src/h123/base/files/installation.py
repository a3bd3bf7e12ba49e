"""Writes to the cache: one process at a time, and completely or not at all. The output of builds goes to a log."""

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.durable import open_below
from h123.base.paths import cache_folder

TAIL_LINES = 15
_TAIL_BYTES = 64 * 1024
_LINE = 240
"""The longest line that is shown, in characters."""
LOOK_S = 0.5
"""Seconds between two calls of `meanwhile` during a build."""
_BLOCK_BYTES = 512
"""The unit of `st_blocks` in bytes, the same on every file system."""


@contextmanager
def alone(whole: Path, report: Callable[[str], None], doing: str = "installing") -> Iterator[None]:
    """Lock a folder, so that only one process at a time works on it. The kernel releases the lock when the process
    ends, whatever the reason."""
    whole.parent.mkdir(parents=True, exist_ok=True)
    with open(whole.with_name(f"{whole.name}.lock"), "a", opener=open_below) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"waiting for another h123 that is {doing} {whole.name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def replacement_folder(whole: Path) -> Iterator[Path]:
    """Yield a folder next to the old installation, and move it to the installation's place at the end, so that readers
    never see an incomplete installation."""
    for remains in whole.parent.glob(f"{whole.name}~*.partial"):
        shutil.rmtree(remains, ignore_errors=True)
    # A killed process's name is not reused, because its compiler may still be writing there.
    partial, old = (whole.with_name(f"{whole.name}~{tag}.partial") for tag in (os.getpid(), "old"))
    partial.mkdir()
    try:
        yield partial
        if whole.exists():
            whole.rename(old)
        partial.rename(whole)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def remove_installation(whole: Path) -> bool:
    """Remove an installation, its log, and the leftovers of killed processes. Return whether anything was removed.
    Call this only within `alone`."""
    if whole.exists():  # in one step: an interrupted removal must not look complete
        whole.rename(whole.with_name(f"{whole.name}~removed{os.getpid()}.partial"))
    remains = [whole.with_name(f"{whole.name}.log"), *whole.parent.glob(f"{whole.name}~*.partial")]
    leftovers = [path for path in remains if path.exists()]
    for path in leftovers:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    return bool(leftovers)


def size_of(folder: Path) -> int:
    return sum(
        Path(root, name).lstat().st_blocks * _BLOCK_BYTES for root, _, names in os.walk(folder) for name in names
    )


def run_logged(
    what: str,
    command: Sequence[str],
    log: Path,
    cwd: Path,
    env: Mapping[str, str],
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Run a step of a build and append its output to `log`. If the step fails, raises UserError with the step's purpose
    (`what`) and the end of the output. `env` is added to the environment; `meanwhile` is called about twice a
    second."""
    with open(log, "a", encoding="utf-8", opener=open_below) as output, _group_that_ends_with_us() as group:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **_home(), **env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=group,
            )
        except OSError as error:
            raise UserError(f"{what}: could not run {command[0]}: {error.strerror}", status=1) from None
        status = _wait(process, meanwhile)
    if status != 0:
        raise UserError(
            f"{what}: the build failed with exit status {status}:\n{_tail(log)}",
            remedy=f"the full output is in {log}",
            status=1,
        )


def _tail(log: Path) -> str:
    """Return the last lines of a log. Long lines are shortened in the middle."""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - _TAIL_BYTES, 0))
        lines = file.read().decode("utf-8", errors="replace").splitlines()[-TAIL_LINES:]
    half = _LINE // 2
    return "\n".join(f"  {line if len(line) <= _LINE else f'{line[:half]} ... {line[-half:]}'}" for line in lines)


def _home() -> dict[str, str]:
    """Return environment variables that give compilers and package managers a home folder, if HOME is missing or
    read-only."""
    home = os.environ.get("HOME")
    if home and os.access(home, os.W_OK):
        return {}
    with suppress(KeyError):
        home = home or pwd.getpwuid(os.getuid()).pw_dir
    toolchains = os.environ.get("RUSTUP_HOME", f"{home}/.rustup")  # only read
    if not home or not os.access(home, os.W_OK):
        own = cache_folder().resolve() / "home"
        own.mkdir(parents=True, exist_ok=True)
        home = str(own)
    return {"HOME": home, "RUSTUP_HOME": toolchains}


@contextmanager
def _group_that_ends_with_us() -> Iterator[int]:
    """Start a process group that is killed when this process ends for any reason. The group's first process waits until
    the kernel closes this process's end of a pipe, which happens even if this process is killed."""
    watch = ["sh", "-c", "read -r _; kill -KILL 0"]
    first = subprocess.Popen(watch, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0)
    try:
        yield first.pid
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()


def _wait(process: "subprocess.Popen[bytes]", meanwhile: Callable[[], None]) -> int:
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK_S)
        meanwhile()
