"""Manifests are read as meant, or refused with file, line where it can be told, and the cure."""

from pathlib import Path

import pytest

from catalogue.small import MANIFEST, small, write_small
from h123.catalogue import catalogue, subject_names
from h123.errors import UserError

PARTS = """\
[[parts]]
name = "a"
version = "1"
licence = "MIT"

[[parts]]
name = "b"
version = "2"
"""

BAD = [
    ('h123 = "subject/1"', 'h123 = "subject/9"', "", ["subject/1"]),
    ('name = "small"', 'name = "tiny"', ":2", ["'tiny'", "folder is 'small'"]),
    ('name = "small"', 'name = "a b"', ":2", ["name"]),
    ('title = "A shell script"\n', "", "", ["title", "missing"]),
    ('stack = "none"', 'stak = "none"', ":4", ["unknown key 'stak'", "did you mean stack?"]),
    ('stack = "none"', "stack = none", "", ["line 4"]),
    ("build = [", "biuld = [", ":13", ["unknown key 'biuld'", "did you mean build?"]),
    ('"{prefix}"]', '"{prefx}"]', ":13", ["unknown placeholder {prefx}", "{prefix}"]),
    ('"{prefix}"]', '"{port}"]', ":13", ["unknown placeholder {port}"]),
    ("{congestion}", "{workload}", ":16", ["unknown placeholder {workload}", "{cert}"]),
    ("{facts}", "{fact}", ":22", ["unknown placeholder {fact}", "{facts}"]),
    ('methods = ["GET"]', 'methods = ["FETCH"]', ":18", ["'FETCH'", "GET, POST"]),
    ('h2 = ["tcp"], h3 = ["udp"]}', 'h2 = ["tcp"]}', ":19", ["h3", "tcp or udp"]),
    ('h3 = ["udp"]}', 'h3 = ["quic"]}', ":19", ["'quic'", "tcp, udp"]),
    ("[client]", "[cleint]", ":21", ["unknown key 'cleint'", "did you mean client?"]),
    ('methods = ["GET", "POST"]', 'connections = ["many"]', ":24", ["'many'", "shared, per-user, number"]),
    ("[features]", f"{PARTS}licens = 'MIT'\n\n[features]", ":34", ["unknown key 'licens'", "did you mean licence?"]),
    ("[features]", f"{PARTS}\n[features]", ":31", ["parts.1.licence", "missing"]),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), BAD, ids=[f"{old}->{new}" for old, new, _, _ in BAD])
def test_refused(tmp_path: Path, old: str, new: str, line: str, said: list[str]) -> None:
    assert old in MANIFEST
    with pytest.raises(UserError) as refused:
        small(tmp_path, MANIFEST.replace(old, new, 1))
    assert f"small/subject.toml{line}: " in refused.value.message
    for words in said:
        assert words in refused.value.message


def test_no_role_at_all(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\[server\], \[client\], \[backend\], \[origin\] or \[probe\]"):
        small(tmp_path, MANIFEST[: MANIFEST.index("[server]")])


def test_what_a_catalogue_tells(tmp_path: Path) -> None:
    parts = PARTS + 'licence = "BSD-3-Clause"\n'
    subject = small(
        tmp_path, MANIFEST.replace("[install]", 'note = "H1 only"\nparts_note = "go.mod"\n\n[install]') + parts
    )
    assert (subject.note, subject.parts_note) == ("H1 only", "go.mod")
    assert [(part.name, part.licence) for part in subject.parts] == [("a", "MIT"), ("b", "BSD-3-Clause")]


def test_the_folder_of_subjects_can_be_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_small(tmp_path)
    (tmp_path / "not-a-subject").mkdir()
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path))
    assert subject_names() == ["small"]
    assert catalogue()["small"].language == "sh"


def test_the_projects_own_subjects_are_right() -> None:
    subjects = catalogue()
    assert "go" in subjects
    for subject in subjects.values():
        assert subject.install.needs_help
