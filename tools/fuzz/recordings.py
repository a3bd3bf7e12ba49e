"""Fuzzes HAR files, read as sites and as the requests for one server."""

from pathlib import Path

from reader import Reader

from h123.study import import_site, recorded_page
from study.shop import RECORDINGS, har


def _read(case: bytes, folder: Path) -> None:
    path = folder / "page.har"
    path.write_bytes(case)
    import_site(path, "page")
    recorded_page(path)


HAR = Reader("har", _read, lambda: [har(name).encode() for name in RECORDINGS])
