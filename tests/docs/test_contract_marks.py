"""docs/contracts/subject.md says of each rule for servers which checks ask it: the checks that there are, and all."""

import re

import pytest

from h123.base.paths import project_root
from h123.verification.public_record import public_records
from h123.verification.server_checks import versions

PAGE = project_root() / "docs/contracts/subject.md"
NUMBER = re.compile(r"\d+")
KEPT = {"404", "0-RTT", "X25519 alone", "a connection idle for 58s"}
"""The names in which a number stays."""
LIMITS = {"limit of n at once", "limit of idleness", "instant acknowledgement", "late acknowledgement"}
"""Of servers that declare a limit, or that they can wait for their certificate. The embedded server does not."""
NEW = {versions.CHECK}
"""Younger than the record of the embedded server may be."""


def _marks() -> dict[str, str]:
    """Of each rule, what is said of its checks."""
    section = PAGE.read_text().partition("## What a server does")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return dict(rows[1:])


def _named() -> set[str]:
    return {name for checks in _marks().values() for name in re.findall(r"`([^`]+)`", checks)}


def _made() -> set[str]:
    """By the names that checks of the embedded server have, with n for numbers."""
    names = {result.check for result in public_records()["go"].record.of_role("server")}
    names = {name if name in KEPT else NUMBER.sub("n", name) for name in names}
    return {"congestion" if name.startswith("congestion ") else name for name in names} | LIMITS | NEW


def test_the_page_names_the_checks_that_there_are() -> None:
    assert _named() == _made()


@pytest.mark.parametrize(("rule", "checks"), _marks().items(), ids=lambda text: text[:40])
def test_each_rule_is_marked(rule: str, checks: str) -> None:
    assert "`" in checks or "tested" in checks, rule
