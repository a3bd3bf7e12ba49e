"""The studies of servers ask about every server that the catalogue has."""

import pytest

from h123.catalogue import Subject, catalogue
from h123.study import find_study, load_study

VARIANTS = {"go-rest"}
"""Servers that are another one once more, for a study of their own."""


def _servers(*protocols: str) -> set[str]:
    def speaks(subject: Subject) -> bool:
        return subject.server is not None and set(protocols) <= set(subject.server.protocols)

    return {name for name, subject in catalogue().items() if speaks(subject)} - VARIANTS


@pytest.mark.parametrize(("study", "protocols"), [("servers", ["h3"]), ("servers-protocols", ["h1", "h2", "h3"])])
def test_every_server_that_speaks_them_is_a_level(study: str, protocols: list[str]) -> None:
    assert set(load_study(find_study(study)).factors["server"]) == _servers(*protocols)


def test_every_server_stands_beside_the_embedded_one() -> None:
    pairs = load_study(find_study("servers")).compare.pairs
    assert set(pairs) == {f"{name}/go" for name in _servers("h3") - {"go"}}
