"""A browser that is killed or stands still in a visit: that visit has failed, with its reason; the next ones go on."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from h123.catalogue import catalogue, install, make_documents
from h123.execution import LocalPool, campaign_certificate
from h123.execution.files import SERVER_ADDRESS
from h123.study import Network
from h123.study.networks.network import Direction
from h123.verification.client_cases import assignments
from h123.verification.clients.client import carry_out
from h123.verification.trial import Trials

pytestmark = pytest.mark.heavy
PAGE = "a workload of kind page"
SLOW = Network(name="slow", title="a visit takes seconds", up=Direction(), down=Direction(delay_ns=400_000_000))
VISITS = 4
INTO_IT_S = 0.5
"""From the first connection to the blow: the document has been asked for, and not all has come."""
LONGEST_S = 60.0
PORT, ESTABLISHED = 4443, "01"


@pytest.mark.parametrize(
    ("whose", "sent", "reason"),
    [
        ("page", signal.SIGKILL, "other: the page crashed"),
        ("page", signal.SIGSTOP, "timeout"),
        ("browser", signal.SIGKILL, "other: the browser ended"),
    ],
)
@pytest.mark.parametrize("name", ["chromium", "firefox"])
def test_the_visit_has_failed_and_others_have_not(
    name: str, whose: str, sent: signal.Signals, reason: str, tmp_path: Path
) -> None:
    browser = catalogue()[name]
    for subject in (browser, catalogue()["go"]):
        install(subject, print)
    [asked] = [one for one in assignments(browser) if (one.name, one.parameters.protocol) == (PAGE, "h2")]
    made = asked.parameters.workload.documents()
    assert made
    make_documents(made.folder, made.contents)
    changed = {
        "users": 1,
        "requests": VISITS,
        "warmup": 0,
        "timeout": 6_000_000_000,
        "cold": True,
        "trial_timeout": 60_000_000_000,
    }
    parameters = asked.parameters.model_copy(update=changed)
    trials = Trials(catalogue(), campaign_certificate(tmp_path / "tls", [SERVER_ADDRESS]), LocalPool())
    blow = Blow(_is_page if whose == "page" else _is_browser, sent)
    with blow:
        carried = carry_out(replace(asked, network=SLOW, parameters=parameters), trials, tmp_path / "trial")
    assert blow.struck
    assert not carried.reasons
    visits = [[row for row in carried.rows if row["group"] == n] for n in range(VISITS)]
    errors = [{row["error"] for row in rows} - {""} for rows in visits]
    assert reason in errors[0]
    assert not errors[-1]  # the one after may be lost, too: a browser makes processes before it has pages for them
    assert len({len(rows) for rows in visits}) == 1  # no resource is missing


class Blow:
    """Sends a signal to the processes of a kind when a visit is under way, and to none that we did not start."""

    def __init__(self, of_kind: Callable[[list[str]], bool], sent: signal.Signals) -> None:
        self.struck = False
        self._of_kind, self._sent, self._over = of_kind, sent, threading.Event()
        self._striker = threading.Thread(target=self._strike)

    def __enter__(self) -> None:
        self._striker.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._striker.join()

    def _strike(self) -> None:
        until = time.monotonic() + LONGEST_S
        while time.monotonic() < until and not self._over.wait(0.02):
            if any(_connected(process) for process, _ in _descendants()):
                time.sleep(INTO_IT_S)
                for process, words in list(_descendants()):
                    if self._of_kind(words):
                        os.kill(process, self._sent)
                        self.struck = True
                return


def _connected(process: int) -> bool:
    """Whether there is an established connection to the server's port in this process' network namespace."""
    try:
        lines = Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]
    except OSError:
        return False
    return any(line.split()[2].endswith(f":{PORT:04X}") and line.split()[3] == ESTABLISHED for line in lines)


def _is_page(words: list[str]) -> bool:
    return "--type=renderer" in words or ("-contentproc" in words and words[-1] == "tab")


def _is_browser(words: list[str]) -> bool:
    """What the driver starts, which has the others as its own."""
    program = words[0].rsplit("/", 1)[-1]
    alone = not any(word.startswith("--type=") or word == "-contentproc" for word in words)
    return program in ("chrome", "chromium", "firefox", "firefox-esr", "firefox-bin", "headless_shell") and alone


def _descendants() -> Iterator[tuple[int, list[str]]]:
    """Processes that are ours, and their commands' words."""
    above = dict[int, int]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            above[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    ours = {os.getpid()}
    while more := {child for child, parent in above.items() if parent in ours} - ours:
        ours |= more
    for process in ours - {os.getpid()}:
        try:
            words = (Path("/proc") / str(process) / "cmdline").read_text().rstrip("\0").replace(" ", "\0").split("\0")
        except OSError:
            continue
        if words[0]:
            yield process, words
