"""Fuzzes manifests of subjects."""

import re
from pathlib import Path

from reader import ROOT, Reader

from h123.catalogue.registry import read_subject

SUBJECTS = sorted(path.name for path in (ROOT / "subjects").iterdir() if path.is_dir())
NAME = re.compile(rb'(?m)^name = "([a-z0-9-]+)"')


def _read(case: bytes, folder: Path) -> None:
    for name in SUBJECTS:  # manifests name one another's folders
        (folder / name).mkdir(exist_ok=True)
    named = NAME.search(case)
    place = folder / (named[1].decode()[:200] if named else "go")
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
