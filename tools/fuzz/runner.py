"""Runs a reader's cases in separate processes, and reports those that end in anything but an answer or a UserError."""

import contextlib
import faulthandler
import multiprocessing as mp
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from forging import Forgery
from mutations import make_case, tokens
from reader import Reader

from h123.base.errors import UserError

LIMIT_S = 5.0
"""The processor time that a case may take. Other programs do not count, but sharing caches with them makes it longer.
The largest of the project's own studies, with 2400 trials, takes half a second to plan on an idle machine."""
STUCK_S = 60.0
"""The time after which a case is stuck, because it waits for something or holds Python's lock. The worker then prints
all its stacks and ends."""
PROCESSES = 2
TOLD_EVERY = 100
"""The number of cases between reports, so that an interrupted run knows how far it came."""
SMALLER = 300
"""The maximum number of attempts to make a failing case smaller."""


class TooLong(BaseException):
    """Raised if a case has used up its processor time. Nothing catches it on the way."""


@dataclass(frozen=True)
class Failure:
    """The failure of a case."""

    number: int
    what: str
    """The error message, or the place in the code when the time was over."""
    case: bytes


@dataclass
class Course:
    """The progress of a run."""

    done: int
    refused: int
    """The number of cases that ended with a UserError. All others were read."""
    failures: list[Failure]
    seconds: float


def run(reader: Reader, cases: int, seed: int, most_failures: int = 10) -> Course:
    """Read the cases, and stop early after `most_failures`. Case `n` depends only on the reader's corpus, the seed and
    n. For a reader of forged documents, `cases` is at most the number of forgeries."""
    reader.corpus()  # whatever that keeps is made once, for all workers
    cases = min(cases, len(reader.forged())) if reader.forged else cases
    began, course = time.monotonic(), Course(0, 0, [], 0.0)
    shares = [range(first, cases, PROCESSES) for first in range(PROCESSES)]
    workers = {worker.heard: worker for worker in (_Worker.start(reader, seed, share) for share in shares)}
    with contextlib.suppress(KeyboardInterrupt):
        while workers and len(course.failures) < most_failures:
            for heard in wait(list(workers)):
                _hear(workers.pop(heard), workers, course)  # type: ignore[call-overload]
    for worker in workers.values():
        worker.process.terminate()
    course.seconds = time.monotonic() - began
    return course


def _hear(worker: "_Worker", workers: dict[Connection, "_Worker"], course: Course) -> None:
    """Receive a worker's report, or note the case at which the worker died. Puts the worker, or its successor, back
    among the workers."""
    try:
        failure, done, refused = worker.heard.recv()
    except EOFError:
        left = worker.died()
        if left is not None:
            course.failures.append(worker.last_words())
            goes_on = _Worker.start(worker.reader, worker.seed, left)
            workers[goes_on.heard] = goes_on
        return
    workers[worker.heard] = worker
    course.done, course.refused = course.done + done, course.refused + refused
    if failure:
        course.failures.append(failure)
        print(f"  {worker.reader.name}, case {failure.number}: {failure.what}", file=sys.stderr, flush=True)


@dataclass
class _Worker:
    reader: Reader
    seed: int
    share: range
    process: Any
    heard: Connection
    number: Any
    """The case it is at; -1 before and after all."""

    @classmethod
    def start(cls, reader: Reader, seed: int, share: range) -> "_Worker":
        context = mp.get_context("fork")
        heard, tells = context.Pipe(duplex=False)
        number = context.Value("q", -1, lock=False)
        process = context.Process(target=_work, args=(reader, seed, share, tells, number), daemon=True)
        process.start()
        tells.close()
        return cls(reader, seed, share, process, heard, number)

    def died(self) -> range | None:
        """Return the rest of the worker's share if it died at a case, or None."""
        self.process.join()
        at = self.number.value
        return None if at < 0 else range(at + self.share.step, self.share.stop, self.share.step)

    def last_words(self) -> Failure:
        at = self.number.value
        code = self.process.exitcode
        case = cases_of(self.reader, self.seed)(at)
        return Failure(at, f"{case.name}: the worker died (exit code {code})", case.content)


def cases_of(reader: Reader, seed: int) -> Callable[[int], Forgery]:
    """Return a function that gives the case of each number."""
    if reader.forged:
        return random.Random(seed).sample(all_of_them := list(reader.forged()), len(all_of_them)).__getitem__
    corpus = reader.corpus()
    words = tokens(corpus, reader.words)
    return lambda number: Forgery("", make_case(corpus, words, random.Random(f"{reader.name} {seed} {number}")))


def _work(reader: Reader, seed: int, share: range, tells: Connection, at: Any) -> None:
    signal.signal(signal.SIGPROF, _over)
    cases, done, refused = cases_of(reader, seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="h123-fuzz-", dir=_scratch()) as scratch:
        for number in share:
            at.value = number
            case = cases(number)
            answer = attempt(reader, case.content, Path(scratch))
            done, refused = done + 1, refused + (answer == "")
            failure = Failure(number, *_told(reader, case, answer, Path(scratch))) if answer else None
            if failure or done == TOLD_EVERY:
                tells.send((failure, done, refused))
                done = refused = 0
    tells.send((None, done, refused))
    at.value = -1


def _told(reader: Reader, case: Forgery, answer: str, scratch: Path) -> tuple[str, bytes]:
    """Return what went wrong, and a case that shows it."""
    if reader.forged:
        return f"{case.name}: {answer}", case.content
    return answer, smaller(reader, case.content, answer, scratch)


def _scratch() -> Path | None:
    """Return a folder in memory if there is one, because cases need no disk."""
    return Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None


def attempt(reader: Reader, case: bytes, scratch: Path) -> str | None:
    """Read a case. Return None if it was read, an empty string if it was refused properly, or else what went wrong."""
    faulthandler.dump_traceback_later(STUCK_S, exit=True)
    try:
        with _limited():
            reader.read(case, scratch)
    except UserError:
        return ""
    except TooLong as error:
        return f"took more than {LIMIT_S:g} s of processor time: {_where(error)}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]} ({_where(error)})"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _over(_signal: int, _frame: object) -> None:
    raise TooLong


def _where(error: BaseException) -> str:
    """Return the last line of h123's code in the error's traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/h123/" in f.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside of h123"


def smaller(reader: Reader, case: bytes, answer: str, scratch: Path) -> bytes:
    """Return a part of the case that still fails in the same place."""
    place, step = answer.rpartition("(")[2], len(case) // 2
    tried = 0
    while step and tried < SMALLER and "took more" not in answer:
        start = 0
        while start < len(case) and tried < SMALLER:
            shorter, tried = case[:start] + case[start + step :], tried + 1
            found = attempt(reader, shorter, scratch)
            if found and found.rpartition("(")[2] == place:
                case = shorter
            else:
                start += step
        step //= 2
    return case
