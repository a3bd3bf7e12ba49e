"""Shows what the lab is waiting for while a started server has not opened its port yet."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from h123.documents.trial_files import Role

FIRST_S = 5.0
"""The seconds until the first message."""
EVERY_S = 10.0
_LINE = 160
"""The largest number of characters to show of the server's last line of output."""
_TAIL_BYTES = 2000


@contextmanager
def impatience(folder: Path, started: Role, scout: Role, say: Callable[[str], None]) -> Iterator[None]:
    """Report from time to time what the lab is waiting for, until the role `started` is ready and the lab starts the
    role `scout`. The logs of both roles are below `folder`."""
    finished = threading.Event()
    teller = threading.Thread(target=_report_waiting, args=(finished, folder, started, scout, say), daemon=True)
    teller.start()
    try:
        yield
    finally:
        finished.set()
        teller.join()


def _report_waiting(
    finished: threading.Event, folder: Path, started: Role, scout: Role, say: Callable[[str], None]
) -> None:
    waited = FIRST_S
    while not finished.wait(EVERY_S if waited > FIRST_S else FIRST_S):
        if _log(folder, scout).exists():  # the server is ready then
            return
        say(f"  {_awaited(started, waited)}. {_printed_last(_log(folder, started))}")
        waited += EVERY_S


def _awaited(role: Role, waited: float) -> str:
    """Describe what the lab is waiting for: `After 5 s it has not opened TCP port 8443; it has 30 s in all (Ctrl-C ends
    this)`."""
    ready = role.ready
    assert ready is not None
    ports = [f"TCP port {port}" for port in (*ready.tcp, *ready.besides)] + [f"UDP port {port}" for port in ready.udp]
    awaited = [f"opened {' and '.join(ports)}"] if ports else []
    awaited += [f"printed {ready.line!r}"] if ready.line else []
    longest = f"{ready.timeout_ns / 1e9:g} s"
    return f"After {waited:g} s it has not {' and '.join(awaited)}; it has {longest} in all (Ctrl-C ends this)"


def _printed_last(log: Path) -> str:
    if not log.exists():
        return "It has printed nothing"
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        lines = [line.strip() for line in file.read().decode(errors="replace").split("\n") if line.strip()]
    return f"It printed last: {lines[-1][:_LINE]}" if lines else "It has printed nothing"


def _log(folder: Path, role: Role) -> Path:
    """Return the log of a role in the trial that runs below the folder."""
    name = Path("logs", f"{role.name}.log")
    with suppress(OSError):  # the trial may have ended meanwhile
        return next(folder.rglob(str(name)), folder / name)
    return folder / name
