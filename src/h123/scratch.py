"""Folders for what nobody keeps. Those of killed processes go when the next one is made."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from h123.errors import UserError
from h123.installing import alone
from h123.lock import sole_user
from h123.paths import cache_folder


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder in the cache, gone afterwards."""
    shelf = cache_folder().resolve() / "scratch"
    with ExitStack() as held:
        with alone(shelf, lambda _: None):  # or one that was not locked yet would be taken for a dead one's
            if shelf.is_symlink():
                raise UserError(f"{shelf} is a link", remedy="remove it; to keep the cache elsewhere set H123_CACHE")
            shelf.mkdir(exist_ok=True)
            for left in shelf.iterdir():
                if left.is_symlink() or not left.is_dir():
                    left.unlink()
                    continue
                with suppress(UserError), sole_user(left, "something"):
                    shutil.rmtree(left)
            folder = Path(tempfile.mkdtemp(dir=shelf))
            held.enter_context(sole_user(folder, "this"))
        held.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder
