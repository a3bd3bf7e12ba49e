"""There is none left of something: one sentence and status 3, as the machine lacks it; anything else is a defect."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_S, ROOT
from h123.cli import app

AGAIN = os.strerror(errno.EAGAIN)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BlockingIOError(errno.EAGAIN, AGAIN), "process or thread"),  # of a fork
        (RuntimeError("can't start new thread"), "process or thread"),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "file can be opened"),
        (MemoryError("failed to allocate data of size 64 bytes"), "memory"),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), "memory"),
    ],
)
def test_what_has_run_out_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, told: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        _main(monkeypatch, error)
    assert ended.value.code == 3
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("error", [ValueError("no"), OSError(errno.EBADF, os.strerror(errno.EBADF))])
def test_a_defect_shows_where_it_is(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    with pytest.raises(type(error)):
        _main(monkeypatch, error)


def test_ctrl_c_is_one_whatever_a_library_makes_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as ended:
        _main(monkeypatch, RuntimeError("Query interrupted"))  # DuckDB's
    assert ended.value.code == 130


@pytest.mark.parametrize("command", ["analyse", "report", "export"])
@pytest.mark.parametrize("limit", [4, 8, 16])
def test_too_few_threads_are_said_before_a_library_waits_for_one(tmp_path: Path, command: str, limit: int) -> None:
    """As an ordinary user, who alone has such a limit; with the right to read everything, as Python may be root's."""
    kept = "+dac_override,+dac_read_search"
    words = ["setpriv", "--reuid", "61234", "--clear-groups", "--inh-caps", kept, "--ambient-caps", kept]
    words += ["prlimit", f"--nproc={limit}:{limit}", sys.executable, "-B", "-m", "h123", command, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "H123_CACHE": str(tmp_path)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 3, done.stderr
    assert "more threads or processes can be started here" in done.stderr
    assert "Traceback" not in done.stderr


def _main(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(prog_name: str) -> None:  # noqa: ARG001
        raise error

    monkeypatch.setattr(app, "app", fail)
    for each in ("heed_signals", "heed_no_more"):  # of this process, which goes on
        monkeypatch.setattr(app, each, lambda: None)
    app.main()
