"""`python -m h123`."""

import os
import signal

if __name__ == "__main__":
    # Until everything is loaded nothing is begun, so Ctrl-C just ends it: an exception amid an import would be shown,
    # or lost. The launcher blocks the signal, because Python while it starts would show one, too.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(130))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    from h123.streams import make_usable

    make_usable()  # before the imports below look at them
    from h123.cli import main

    main()
