"""Runs h123 as `python -m h123`."""

import os
import signal
import sys


def main() -> None:
    """Run the command `h123`."""
    # Until everything is loaded, Ctrl-C ends the process at once, because an exception during an import would print a
    # traceback or be lost. The launcher blocks the signal, because Python would print a traceback while it starts.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(130))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    if sys.flags.optimize:  # libraries and `--help` need the docstrings that -OO leaves out
        os.environ.pop("PYTHONOPTIMIZE", None)
        options = [word for word in sys.orig_argv[1 : -len(sys.argv) + 1 or None] if word not in ("-O", "-OO")]
        os.execv(sys.executable, [sys.executable, *options, *sys.argv[1:]])

    from h123.base.errors import UserError
    from h123.base.garbage import few_collections
    from h123.base.limits import check_folder, check_limits, check_threads
    from h123.base.terminal.streams import make_usable

    make_usable()  # before the imports below look at the standard streams
    try:
        check_folder()
        check_limits()  # before the imports below exceed a limit
        check_threads()
    except UserError as error:
        print(f"h123: {error.message}\n  -> {error.remedy}", file=sys.stderr)
        sys.exit(error.status)
    with few_collections():  # modules are many small objects
        from h123.cli import main as run

        run()


if __name__ == "__main__":
    main()
