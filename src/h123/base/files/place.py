"""Whether a folder takes what a command will write there, found by trying: permissions do not say it all (/proc, a
read-only file system, a full disk)."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from h123.base.errors import UserError
from h123.base.limits import FULL


def check_place(path: Path) -> None:
    """Raises UserError where the folder `path` cannot be made, or takes no files. Nothing of the attempt stays."""
    there = next(place for place in (path.absolute(), *path.absolute().parents) if os.path.lexists(place))
    if not there.is_dir():
        raise UserError(
            f"{there} is a file, or a link that leads nowhere; results need a folder", remedy="name another place"
        )
    try:
        with TemporaryDirectory(prefix=".h123-", dir=there) as tried:
            Path(tried, "file").touch()
    except OSError as error:
        why = FULL.get(error.errno or 0) or error.strerror
        raise UserError(f"{there} cannot be written to: {why}", remedy="name another place") from None
