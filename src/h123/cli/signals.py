"""Signals that end the program: heard as Ctrl-C is, and held back where they would be shown, or lost."""

import importlib
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def heed_signals() -> None:
    """Whoever asks us to end, or closes the terminal, interrupts as Ctrl-C does, unless `nohup` or `&` said otherwise.

    Until now Ctrl-C has ended us at once (__main__.py).
    """
    signal.signal(signal.SIGTERM, _interrupt)
    for each in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _interrupt)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Signals wait: the interruption of an import would be shown, or lost."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def load_undisturbed(*modules: str) -> None:
    """For what imports of them later."""
    with signals_blocked():
        for module in modules:
            importlib.import_module(module)


def heed_no_more() -> None:
    """All is done: what comes while Python ends would change the exit status."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
