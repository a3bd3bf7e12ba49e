"""A cache for tests that install subjects of their own: nobody's own cache gets a folder of theirs."""

import shutil
from pathlib import Path

from h123.base.paths import cache_folder
from h123.catalogue import catalogue, install, prefix
from h123.virtual import NAME


def own_cache(folder: Path) -> Path:
    """A cache in `folder` that has what the project's has of the embedded subject and of the virtual clock's kernel."""
    go = catalogue()["go"]
    install(go, print)
    cache, kernel = folder / "cache", cache_folder().resolve() / NAME
    (cache / "subjects").mkdir(parents=True)
    # No link: a lab does not see what is elsewhere in /tmp.
    shutil.copytree(prefix(go), cache / "subjects/go", symlinks=True)
    if kernel.exists():
        (cache / NAME).symlink_to(kernel)
    return cache
