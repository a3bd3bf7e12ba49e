"""There is none left of something: one sentence and status 3, as the machine lacks it; anything else is a defect."""

import errno
import os

import pyarrow as pa
import pytest

from h123.cli import app

AGAIN = os.strerror(errno.EAGAIN)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BlockingIOError(errno.EAGAIN, AGAIN), "process or thread"),  # of a fork
        (RuntimeError("can't start new thread"), "process or thread"),
        (pa.lib.ArrowException(f"Unknown error: Failed to launch worker thread: {AGAIN}"), "process or thread"),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "file can be opened"),
        (pa.lib.ArrowMemoryError("malloc of size 64 failed"), "memory"),
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


def _main(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(prog_name: str) -> None:  # noqa: ARG001
        raise error

    monkeypatch.setattr(app, "app", fail)
    for each in ("heed_signals", "heed_no_more"):  # of this process, which goes on
        monkeypatch.setattr(app, each, lambda: None)
    app.main()
