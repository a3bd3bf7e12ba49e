"""Handles signals that end the program: they act like Ctrl-C, but never during an import."""

import signal
from types import FrameType

_ALL = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM)
_AGAIN_S = 0.005


def heed_signals() -> None:
    """Treat SIGTERM and SIGHUP like Ctrl-C, unless `nohup` or `&` disabled them.

    Before this call, Ctrl-C ends the process at once (__main__.py).
    """
    for each in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(each, _interrupt)
    for each in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _interrupt)


def heed_no_more() -> None:
    """Ignore signals until the process ends, because they would change the exit status while Python exits."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ALL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    for each in _ALL:  # A library's threads may still receive it.
        signal.signal(each, signal.SIG_IGN)


def _interrupt(_signal: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or try again later if the program is importing a module or building a model.

    An exception during an import may leave half a module, and pydantic turns it into a different error.
    """
    if _is_loading(frame):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        return
    raise KeyboardInterrupt


def _is_loading(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in ("importlib", "_frozen_importlib", "pydantic"):
            return True
        frame = frame.f_back
    return False
