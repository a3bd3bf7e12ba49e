"""Packs and unpacks docs/results/summaries.tar.xz: the printed summaries of campaigns without published data.

    python tools/summaries.py unpack FOLDER
    python tools/summaries.py pack FOLDER

One archive is half as large as a file for each summary. The same folder always gives the same archive. Pages link to a
summary as `summaries.tar.xz#quick/summary.txt`; `make docs` puts it on the site (tools/docs_links.py).
"""

import io
import lzma
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parents[1] / "docs/results/summaries.tar.xz"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0, "nice_len": 273}]


def unpacked(archive: Path = ARCHIVE) -> dict[str, bytes]:
    """Return the content of each summary by its name."""
    with tarfile.open(archive) as members:
        return {member.name: members.extractfile(member).read() for member in members}  # type: ignore[union-attr]


def packed(summaries: Mapping[str, bytes]) -> bytes:
    """Return the archive of these summaries."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as members:
        for name, content in sorted(summaries.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            members.addfile(member, io.BytesIO(content))
    return lzma.compress(plain.getvalue(), filters=_FILTERS)


def main(action: str, folder: Path) -> None:
    """Write the archive's files into the folder, or the folder's files into the archive."""
    if action == "unpack":
        for name, content in unpacked().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    elif action == "pack":
        files = [path for path in folder.rglob("*.txt") if path.is_file()]
        ARCHIVE.write_bytes(packed({path.relative_to(folder).as_posix(): path.read_bytes() for path in files}))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))
