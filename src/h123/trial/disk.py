"""The room on the disk that a trial needs."""

import os
import tempfile
from pathlib import Path

TRIAL_BYTES = 200_000
"""That the files of a trial take, its samples apart."""


def require_room(folder: Path) -> None:
    """Raises an OSError of those in `limits.FULL` where another trial's files would find no room.

    What has failed there may have failed for that, whatever it said.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, TRIAL_BYTES)
