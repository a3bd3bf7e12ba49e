"""Packs a folder as docs/results/data.tar.xz, to change what is in it: published results and printed summaries.

    mkdir FOLDER && tar -xf docs/results/data.tar.xz -C FOLDER
    PYTHONPATH=src .venv/bin/python tools/results_archive.py FOLDER

Pages link to a member as `data.tar.xz#quick.json` or `data.tar.xz#quick/summary.txt`; `make docs` puts it on the site
(tools/docs_links.py).
"""

import sys
from pathlib import Path

from h123.base.files.durable import replacement
from h123.documents.result_archive import ARCHIVE, packed


def main(folder: Path) -> None:
    """Replace the archive by the files of the folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    if not files:
        sys.exit(f"{folder} has no files")
    with replacement(ARCHIVE) as temporary:
        temporary.write_bytes(packed({path.relative_to(folder).as_posix(): path.read_bytes() for path in files}))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
