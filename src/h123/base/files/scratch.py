"""Makes temporary folders, and deletes those that killed processes have left."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from h123.base.errors import UserError
from h123.base.paths import cache_folder


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new folder in the cache, and delete it at the end."""
    from h123.base.files.installation import alone
    from h123.base.files.lock import sole_user

    shelf = cache_folder().resolve() / "scratch"
    with ExitStack() as resources:
        with alone(shelf, lambda _: None):  # another process must not delete a folder that is not locked yet
            if shelf.is_symlink():
                raise UserError(f"{shelf} is a link", remedy="remove it; to keep the cache elsewhere set H123_CACHE")
            shelf.mkdir(exist_ok=True)
            _sweep(shelf)
            folder = Path(tempfile.mkdtemp(dir=shelf))
            resources.enter_context(sole_user(folder, "this"))
        resources.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


def sweep() -> None:
    """Remove the folders that killed processes have left."""
    shelf = cache_folder().resolve() / "scratch"
    with suppress(OSError):
        if any(shelf.iterdir()):  # few commands find any, so the code to remove them is loaded late
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
        # A dying process may still write to its folder. The next command removes the rest.
        with suppress(UserError, OSError), sole_user(remnant, "something"):
            shutil.rmtree(remnant, ignore_errors=True)
