"""Reads the receive windows that a server announces when a connection starts."""

import re
from collections.abc import Sequence

from h123.base.units import format_bytes
from h123.verification.result import Result

_WINDOWS = re.compile(r"receive windows of (\d+) bytes a stream and (\d+) a connection")
"""The probe's words for the windows."""


def receive_windows(results: Sequence[Result]) -> dict[str, str]:
    """Return the receive windows of each protocol that has them, such as `6.29 MB per stream, 15.7 MB per
    connection`."""
    windows = {}
    for result in results:
        match = _WINDOWS.search(result.detail) if result.role == "server" and result.check == "limits" else None
        if match and result.verdict == "passed":
            stream, connection = (format_bytes(int(size)) for size in match.groups())
            windows[result.protocol] = f"{stream} per stream, {connection} per connection"
    return windows
