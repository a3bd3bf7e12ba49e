"""`python -m h123`."""

import os
import signal
import sys

if __name__ == "__main__":
    # Until everything is loaded nothing is begun, so Ctrl-C just ends it: an exception amid an import would be shown,
    # or lost. The launcher blocks the signal, because Python while it starts would show one, too.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(130))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    from h123.errors import UserError
    from h123.limits import check_limits
    from h123.streams import make_usable

    make_usable()  # before the imports below look at them
    try:
        check_limits()  # before they need what may be lacking
    except UserError as error:
        print(f"h123: {error.message}\n  -> {error.remedy}", file=sys.stderr)
        sys.exit(error.status)
    from h123.cli import main

    main()
