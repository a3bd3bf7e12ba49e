"""What sources say of constants is read as meant or refused, and is said of the versions that are installed."""

import re
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.catalogue import DeclaredConstants, catalogue, load_declared_constants
from h123.catalogue.registry import subjects_folder
from h123.virtual.source import TESTED_RELEASE

GOOD = """\
[[stack]]
subject = "small"
protocol = "h3"
congestion = "cubic"
source = "tinyquic"
version = "1.2.3"
read_from = "crates.io"
[stack.initial_window]
packets = 10
where = ["src/window.rs:12"]
[stack.decrease]
keeps = 0.7
where = ["src/cubic.rs:7", "src/cubic.rs:9"]
differs = "it undoes what it has done"
[stack.retransmission]
says = "as RFC 9002"
least_ms = 28
most_ms = 31
where = ["src/timer.rs:3"]
"""
MANIFESTS = ("subject.toml", "Cargo.lock", "go.mod", "requirements.txt")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path))
    return tmp_path / "constants.toml"


def test_as_written(file: Path) -> None:
    assert load_declared_constants() == []
    file.write_text(GOOD)
    [said] = load_declared_constants()
    assert said.initial_window.of_bytes is None
    assert said.decrease
    assert (said.decrease.keeps, said.decrease.differs) == (0.7, "it undoes what it has done")
    assert said.retransmission.attempt == 1


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('where = ["src/timer.rs:3"]', 'where = ["src/timer.rs"]', "stack.0.retransmission.where.0"),
        ('where = ["src/timer.rs:3"]', "where = []", "stack.0.retransmission.where"),
        ("keeps = 0.7", "keeps = 7", "stack.0.decrease.keeps"),
        ("packets = 10", "packet = 10", "did you mean packets"),
        ('protocol = "h3"', 'protocol = "h4"', "h4"),
    ],
)
def test_a_mistake_is_named(file: Path, old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(UserError) as refused:
        load_declared_constants()
    assert str(file) in refused.value.message
    assert complaint in refused.value.message


@pytest.mark.parametrize(
    "said", load_declared_constants(), ids=lambda said: f"{said.subject}-{said.protocol}-{said.congestion}"
)
def test_lines_are_of_the_version_that_is_installed(said: DeclaredConstants) -> None:
    subject = catalogue()[said.subject]
    assert subject.server
    assert said.protocol in subject.server.protocols
    if said.source == "Linux":
        assert said.version.startswith("{}.{}.".format(*TESTED_RELEASE)), "the virtual kernel's"
    elif not said.otherwise:
        named = re.escape(said.source) + r"[^\n]{0,40}\n?[^\n]{0,40}" + re.escape(said.version) + r"(?![.0-9]*[0-9])"
        assert any(re.search(named, text) for text in _manifests(said.subject)), "or say why not (`otherwise`)"


def _manifests(name: str) -> list[str]:
    """What says of which versions the subject is made."""
    folder = subjects_folder() / name
    return [path.read_text("utf-8") for file in MANIFESTS for path in [*folder.glob(file), *folder.glob(f"*/{file}")]]


def test_only_bbr_has_no_factor() -> None:
    assert {said.congestion for said in load_declared_constants() if said.decrease is None} == {"bbr"}
