"""docs/constants.md: what sources say, held against the published records; every difference is known by name."""

from collections.abc import Sequence

import pytest

from h123.base.paths import project_root
from h123.catalogue import catalogue, load_declared_constants
from h123.report.catalogue.constants import DeclarationCheck, check_declarations, constants_page, constants_table
from h123.verification.constants import DeclaredComparison
from h123.verification.public_record import public_records

SERVERS = 12
"""That the page has at least."""


@pytest.fixture(scope="module")
def every() -> Sequence[DeclarationCheck]:
    return check_declarations(load_declared_constants(), catalogue(), public_records())


def test_the_projects_page_is_what_its_files_generate(every: Sequence[DeclarationCheck]) -> None:
    page = (project_root() / "docs/constants.md").read_text()
    assert page == constants_page(every), "`h123 publish` writes it again"


def test_packets_show_what_sources_say_or_the_difference_is_stated(every: Sequence[DeclarationCheck]) -> None:
    unknown = [
        f"{one.declared.subject}, {one.over}, {each.constant}: {each.says}, but {each.shows or 'not known'}"
        for one in every
        for each in one.comparisons
        if not each.agrees and not each.differs
    ]
    gone = [
        f"{one.declared.subject}, {one.over}, {each.constant}: {each.shows}, as the source says: {each.says}"
        for one in every
        for each in one.comparisons
        if each.agrees and each.differs
    ]
    assert not unknown, "subjects/constants.toml has no `differs` for them"
    assert not gone, "their `differs` in subjects/constants.toml says more than is so"


def test_enough_servers_are_held_against_their_sources(every: Sequence[DeclarationCheck]) -> None:
    whole = {one.declared.subject for one in every if len(one.comparisons) == 3}
    assert len(whole) >= SERVERS


def test_what_differs_and_what_nobody_measured_stands_there(every: Sequence[DeclarationCheck]) -> None:
    said = next(one.declared for one in every if one.declared.subject == "quinn")
    wrong = DeclaredComparison("initial window", "10 packets", ("a.rs:1",), "", False, "")
    every = [DeclarationCheck(said, [wrong]), DeclarationCheck(said.model_copy(update={"subject": "other"}), [])]
    page, table = constants_page(every), "\n".join(constants_table(every))
    assert "0 of 1 constants of 1 servers agree with the source code. For the other 1, see [differences]" in page
    assert "| quinn | h3, cubic | initial window | 10 packets |" in table
    assert "| – | **no** |" in table
    assert "* **quinn**, h3, cubic, initial window: No reason is known yet." in page
    assert "| other | h3, cubic | current version not measured | – |" in table


def test_a_record_of_other_files_tells_nothing() -> None:
    known = public_records()
    said = [one for one in load_declared_constants() if one.subject == "quinn"]
    assert all(one.comparisons for one in check_declarations(said, catalogue(), known))
    changed = known["quinn"].record.model_copy(update={"fingerprint": "another"})
    known["quinn"] = known["quinn"].model_copy(update={"record": changed})
    assert [one.comparisons for one in check_declarations(said, catalogue(), known)] == [[]]
