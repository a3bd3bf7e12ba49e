"""Manifests of subjects."""

from pathlib import Path

from reader import ROOT, Reader

from h123.catalogue.shelf import read_subject


def _read(case: bytes, folder: Path) -> None:
    place = folder / "go"
    place.mkdir(exist_ok=True)
    (place / "subject.toml").write_bytes(case)
    read_subject(place)


def _corpus() -> list[bytes]:
    paths = sorted((ROOT / "subjects").glob("*/subject.toml"))
    return [path.read_bytes() for path in paths]


WORDS = (
    *("in_turn", "listens", "stores", "connections", "verified_with", "{upstream}", "{x}", "kernel", "fixed", "qlog"),
    *("\\u0000", "0x" + "f" * 5000, "1979-05-27T07:32:00Z", "nan", "[[parts]]", "a.b.c"),
)
MANIFESTS = Reader("manifests", _read, _corpus, WORDS)
