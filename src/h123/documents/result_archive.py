"""Reads and writes docs/results/data.tar.xz: `NAME.json` for each published result, and `PAGE/NAME.txt` for each
printed summary of a campaign without published data.

In one archive, these files take three quarters of the space that they would take separately. The same members give the
same bytes.
"""

import io
import lzma
import tarfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.durable import replacement
from h123.base.files.textfile import read_bytes
from h123.base.paths import data_remedy, project_root

ARCHIVE = project_root() / "docs/results/data.tar.xz"
_MOST_BYTES = 2**26
"""The largest total size of all members, in bytes."""
_LZMA2 = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 2**24, "nice_len": 273}
_FILTERS = [{**_LZMA2, "lc": 4, "lp": 0, "pb": 0}]


def members(archive: Path = ARCHIVE) -> Mapping[str, bytes]:
    """Return the content of all members by name; empty if there is no archive. Raises UserError if it is damaged."""
    if not archive.exists():
        return {}
    status = archive.stat()
    return _members(archive, status.st_ino, status.st_mtime_ns)


def put(content: Mapping[str, bytes], archive: Path = ARCHIVE) -> None:
    """Add these members to the archive, or replace them."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with replacement(archive) as temporary:  # also a lock: another process cannot add a member between the two lines
        temporary.write_bytes(packed({**members(archive), **content}))


def packed(content: Mapping[str, bytes]) -> bytes:
    """Return the archive of these members. Similar members are next to each other, so that they compress well."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(content, key=lambda name: ("/" in name, name)):
            member = tarfile.TarInfo(name)
            member.size = len(content[name])
            archive.addfile(member, io.BytesIO(content[name]))
    return lzma.compress(plain.getvalue(), filters=_FILTERS)


@lru_cache(maxsize=1)
def _members(archive: Path, *_status: int) -> Mapping[str, bytes]:
    unpacker = lzma.LZMADecompressor()
    try:
        plain = unpacker.decompress(read_bytes(archive, sizes.DOCUMENT), _MOST_BYTES)
        if not unpacker.eof:
            raise damaged(archive, "it ends too early")
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as content:
            files = ((member.name, content.extractfile(member)) for member in content)
            return {name: file.read() for name, file in files if file}
    except lzma.LZMAError as error:
        raise damaged(archive, f"it cannot be unpacked ({error})") from None
    except tarfile.TarError as error:
        raise damaged(archive, f"its members cannot be read ({error})") from None


def damaged(what: object, why: str) -> UserError:
    """Return the error about an archive or a member that is not as h123 wrote it."""
    return UserError(f"{what} is damaged: {why}", remedy=data_remedy())
