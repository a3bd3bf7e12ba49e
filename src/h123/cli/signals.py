"""Handles signals that end the program: they act like Ctrl-C, and are blocked during imports."""

import importlib
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MODULES_OF_A_RUN = (
    "h123.campaign",
    "h123.cli.campaigns.report",
    "h123.cli.campaigns.requirements",
    "h123.cli.shards.conclusion",
    "h123.execution",
    "h123.progress",
    "h123.report.page.facts",
    "h123.study.networks.network_file",
)
"""All modules that `h123 run` may import. A signal during an import would not end the command properly: pydantic, for
example, turns the interruption into a different error."""


def heed_signals() -> None:
    """Treat SIGTERM and SIGHUP like Ctrl-C, unless `nohup` or `&` disabled them.

    Before this call, Ctrl-C ends the process at once (__main__.py).
    """
    signal.signal(signal.SIGTERM, _interrupt)
    for each in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _interrupt)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block signals while the context is open. An import that is interrupted may print a traceback or lose the
    signal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def load_undisturbed(*modules: str) -> None:
    """Import modules while signals are blocked, so that later imports find them loaded."""
    with signals_blocked():
        for module in modules:
            importlib.import_module(module)


def heed_no_more() -> None:
    """Block signals until the process ends, because they would change the exit status while Python exits."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
