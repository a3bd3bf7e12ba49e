"""Provides a place for each case: a working directory, a folder outside it that must not change, and h123 in a fork."""

import os
import shutil
import signal
import sys
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_S = 5.0
"""The processor time that a command may take."""
PATIENCE_S = 120.0
"""The time after which a command counts as hanging, on a machine that also does other work."""
_PLAIN = "\n\t"
_SHAPELESS = ("Cc", "Cf", "Cs", "Zl", "Zp")


@dataclass(frozen=True)
class Said:
    """The end of a command and its output."""

    words: tuple[str, ...]
    status: int | None
    """The exit status. None: the command hung."""
    text: str
    seconds: float
    """The processor time in seconds."""

    def faults(self) -> Iterator[str]:
        """Yield everything that no command may do, whatever its input is."""
        command = "h123 " + " ".join(self.words)
        if self.status is None:
            yield f"{command!a} hangs"
        elif self.status not in (0, 1, 2, 3, 98, 99):
            yield f"{command!a} ended with {self.status}"
        if self.seconds > MOST_S:
            yield f"{command!a} took {self.seconds:.1f} s of processor time"
        if "Traceback" in self.text or "Error: " in self.text.replace("h123: ", ""):
            yield f"{command!a}: {self.text[-400:]!a}"
        yield from (f"{command!a} printed {letter!a}" for letter in sorted(shapeless(self.text)))
        yield from (
            f"{command!a} commands: {line!a}" for line in self.text.splitlines() if line.strip().startswith("::")
        )


def shapeless(text: str) -> set[str]:
    """Return the characters of the text that a reader cannot see, except line breaks and tabs."""
    return {letter for letter in set(text) if letter not in _PLAIN and unicodedata.category(letter) in _SHAPELESS}


class Stage:
    """The place of one case, which is created again for each."""

    def __init__(self, place: Path, campaign: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        self.folder, self.outside = place / "here", place / "outside"
        self.folder.mkdir(parents=True)
        (self.outside / "folder").mkdir(parents=True)
        (self.outside / "file").write_text("private\n")
        self._campaign = campaign
        self._before = self._state()

    def campaign(self) -> Path:
        """Copy a finished campaign into the working directory and return its path."""
        return Path(shutil.copytree(self._campaign, self.folder / "campaign"))

    def run(self, *words: str) -> Said:
        """Run h123 with these arguments."""
        output = self.folder.parent / "said"
        child = os.fork()
        if child == 0:
            _become(words, self.folder, output)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            pid, status, used = os.wait4(child, os.WNOHANG)
            if pid:
                code: int | None = os.waitstatus_to_exitcode(status)
                break
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                _, _, used = os.wait4(child, 0)
                code = None
                break
            time.sleep(0.005)
        return Said(words, code, output.read_bytes().decode(errors="replace"), used.ru_utime + used.ru_stime)

    def forgive(self) -> None:
        """Accept the present state outside, because the command was asked to change it."""
        self._before = self._state()

    def faults(self) -> Iterator[str]:
        """Yield what has changed outside."""
        if (now := self._state()) != self._before:
            yield f"outside: {self._before} became {now}"

    def _state(self) -> dict[str, bytes]:
        found = sorted(self.outside.rglob("*"))
        return {str(path): path.read_bytes() if path.is_file() else b"" for path in found}


def _become(words: tuple[str, ...], folder: Path, output: Path) -> None:
    """Turn this process into h123 with these words. Never returns."""
    from h123 import cli  # loaded already
    from h123.base.terminal.streams import make_usable
    from hasty import hasten

    try:
        os.setsid()
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(written, 1)
        os.dup2(written, 2)
        sys.stdout = sys.stderr = None
        sys.argv = ["h123", *words]
        hasten()
        make_usable()
        cli.main()
        code: object = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 70
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
