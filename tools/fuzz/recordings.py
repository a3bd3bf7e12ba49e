"""Fuzzes HAR files, read as sites and as the requests for one server."""

from pathlib import Path

from reader import ROOT, Reader

from h123.study import import_site, recorded_page


def _read(case: bytes, folder: Path) -> None:
    path = folder / "page.har"
    path.write_bytes(case)
    import_site(path, "page")
    recorded_page(path)


def _corpus() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "tests/study/hars").glob("*.har"))]


HAR = Reader("har", _read, _corpus)
