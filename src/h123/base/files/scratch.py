"""Temporary folders. A command deletes those that killed processes have left."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from h123.base.errors import UserError
from h123.base.paths import cache_folder


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder in the cache, gone afterwards."""
    from h123.base.files.installation import alone
    from h123.base.files.lock import sole_user

    shelf = cache_folder().resolve() / "scratch"
    with ExitStack() as resources:
        with alone(shelf, lambda _: None):  # or one that was not locked yet would be taken for a dead one's
            if shelf.is_symlink():
                raise UserError(f"{shelf} is a link", remedy="remove it; to keep the cache elsewhere set H123_CACHE")
            shelf.mkdir(exist_ok=True)
            _sweep(shelf)
            folder = Path(tempfile.mkdtemp(dir=shelf))
            resources.enter_context(sole_user(folder, "this"))
        resources.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


def sweep() -> None:
    """Remove what killed processes left."""
    shelf = cache_folder().resolve() / "scratch"
    with suppress(OSError):
        if any(shelf.iterdir()):  # each command looks, few find something: they load what removes it
            from h123.base.files.installation import alone

            with alone(shelf, lambda _: None):
                _sweep(shelf)


def _sweep(shelf: Path) -> None:
    from h123.base.files.lock import sole_user

    for remnant in shelf.iterdir():
        if remnant.is_symlink():
            remnant.unlink()
        if not remnant.is_dir():
            continue
        # What a dying process of it still deletes or writes is no reason to fail: the next command goes on.
        with suppress(UserError, OSError), sole_user(remnant, "something"):
            shutil.rmtree(remnant, ignore_errors=True)
