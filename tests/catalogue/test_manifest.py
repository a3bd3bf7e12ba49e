"""Manifests are read as meant, or refused with file, line where it can be told, and the cure."""

from pathlib import Path

import pytest

from catalogue.small import MANIFEST, PART, small, write_small
from h123.base.errors import UserError
from h123.base.paths import project_root, typed
from h123.catalogue import Subject, catalogue, read_subject, subject_names, unknown_subject

PARTS = """\
[[parts]]
name = "a"
version = "1"
licence = "MIT"

[[parts]]
name = "b"
version = "2"
"""

SPEAKS = 'protocols = ["h1", "h2", "h3"]\nmethods = ["GET"]\nlistens = {h1 = ["tcp"], h2 = ["tcp"], h3 = ["udp"]}'
"""Of the server."""
BAD = [
    ('h123 = "subject/1"', 'h123 = "subject/9"', "", ["subject/1"]),
    ('name = "small"', 'name = "tiny"', ":2", ["'tiny'", "folder is 'small'"]),
    ('name = "small"', 'name = "a b"', ":2", ["name"]),
    ('title = "A shell script"\n', "", "", ["title", "missing"]),
    ('stack = "none"', 'stack = "no\\u0000ne"', "", ["'no\\x00ne' contains a character that is not allowed, U+0000"]),
    ('stack = "none"', f"stack = {'9' * 5000}", "", ["a number has too many digits"]),
    ('stack = "none"', f"stack = 0x{'f' * 5000}", ":4", ["found a huge number"]),
    ('stack = "none"', f"stack = {'[' * 5000}", "", ["nested too deeply"]),
    ('stack = "none"', "#" * 100_000, "", ["it is larger than 100 kB"]),
    ('stack = "none"', 'stak = "none"', ":4", ["unknown key 'stak'", "did you mean stack?"]),
    ('stack = "none"', "stack = none", ":4", ["Invalid value"]),
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
    ('methods = ["GET", "POST"]', "at_once = {h2 = 0}", ":24", ["h2: must be at least 1, found 0"]),
    (
        'protocols = ["h1", "h2", "h3"]\nmethods = ["GET", "POST"]',
        'protocols = ["h1"]\nat_once = {h2 = 8}',
        ":24",
        ["at_once: h2 is not one of the client's protocols"],
    ),
    ("[features]", f"{PARTS}licens = 'MIT'\n\n[features]", ":34", ["unknown key 'licens'", "did you mean licence?"]),
    ("[features]", f"{PARTS}\n[features]", ":31", ["parts.1.licence", "missing"]),
    ("[install]", 'folder = "elsewhere"\n\n[install]', ":10", ["unknown key 'folder'"]),
    ('"{address}:{port}"', '"{address}:{Port}"', ":16", ["unknown placeholder {Port}"]),
    ('"{address}:{port}"', '"{address}:{port1}"', ":16", ["unknown placeholder {port1}"]),
    ('"{prefix}"]', '"{prefix}"]\nsources = ["../jva"]', ":14", ["no folder '../jva'"]),
    ('"{prefix}"]', f'"{{prefix}}"]\nsources = ["../{"j" * 300}"]', ":14", ["no folder '../jjj"]),
    ('protocols = ["h1", "h2", "h3"]', 'protocols = ["h1", "h4"]', ":17", ["'h4' is not allowed", "h1, h2, h3"]),
    ('protocols = ["h1", "h2", "h3"]', "protocols = []", ":17", ["protocols: must not be empty"]),
    ('protocols = ["h1", "h2", "h3"]', 'protocols = ["h1", "h1"]', ":17", ["'h1' is listed twice"]),
    ('methods = ["GET"]', "methods = []", ":18", ["methods: must not be empty"]),
    ('h3 = ["udp"]}', 'h3 = ["udp"], h4 = ["udp"]}', ":19", ["'h4' is not allowed"]),
    ('h1 = ["tcp"]', 'h1 = ["udp"]', ":19", ['h1 runs over tcp: write h1 = ["tcp"]']),
    ('h3 = ["udp"]', 'h3 = ["tcp"]', ":19", ["h3 runs over udp"]),
    ('protocols = ["h1", "h2", "h3"]', 'protocols = ["h1", "h2"]', ":19", ["h3 is not one of the server's protocols"]),
    ('methods = ["GET"]', 'in_turn = ["h1"]', ":18", ["in_turn", "'h1' is not allowed; the choices are h2, h3"]),
    *[
        (SPEAKS, f'protocols = ["h1"]\nlistens = {{h1 = ["tcp"]}}\n{line}', ":19", [said])
        for line, said in [
            ('in_turn = ["h2"]', "in_turn: h2 is not one of the server's protocols"),
            ("limits = {streams = {h2 = 8}}", "limits: h2 is not one of the server's protocols"),
            ('limits = {idle = {h3 = "30s"}}', "limits: h3 is not one of the server's protocols"),
        ]
    ],
    *[
        ('methods = ["GET"]', f"limits = {{{limits}}}", ":18", ["server.limits", *said])
        for limits, said in [
            ("streams = {h1 = 8}", ["'h1' is not allowed; the choices are h2, h3"]),
            ("streams = {h2 = 0}", ["h2: must be at least 1, found 0"]),
            ("streams = {h2 = true}", ["h2: must be a whole number, found True"]),
            ('idle = {h4 = "30s"}', ["'h4' is not allowed; the choices are h1, h2, h3"]),
            ('idle = {h3 = "60s"}', ["h3: '60s' is not valid; write 1s or more, but less than a minute"]),
            ('idle = {h3 = "999ms"}', ["h3: '999ms' is not valid; write 1s or more"]),
            ("idle = {h3 = 30}", ["h3: 30 is not valid; write a number and one of"]),
            ("streams = 8", ["expected keys with values, found 8"]),
            ("stream = {h2 = 8}", ["unknown key 'stream'; did you mean streams? The choices are streams, idle"]),
        ]
    ],
    *[
        ("[features]", f"[features]\n{line}", ":27", said)
        for line, said in [
            ('resumption = ["h3", "H1"]', ["features.resumption", "'H1' is not allowed; the choices are h1, h2, h3"]),
            ('resumption = ["h1", "h1"]', ["features.resumption", "'h1' is listed twice"]),
            ('zero_rtt = ["h1"]', ["features.zero_rtt", "'h1' is not allowed; the only choice is h3"]),
            ('qlog = ["h2"]', ["features.qlog", "'h2' is not allowed; the only choice is h3"]),
            ('initial_window = ["h2"]', ["features.initial_window", "'h2' is not allowed; the only choice is h3"]),
            ('initial_window = ["h3"]', ["features.initial_window: no command uses the placeholder {initial_window}"]),
            ('pacing = ["h3"]', ["features.pacing: no command uses the placeholder {pacing}"]),
            ('max_datagram = ["h3"]', ["features.max_datagram: no command uses the placeholder {max_datagram}"]),
            ("clocks = []", ["features.clocks: must not be empty"]),
            ('clocks = ["virtual"]', ["features.clocks: wall is missing"]),
            ('clocks = ["wall", "wall"]', ["'wall' is listed twice"]),
        ]
    ],
    *[
        ('methods = ["GET", "POST"]', f'methods = ["GET", "POST"]\nsessions = {{{told}}}', ":25", ["sessions", said])
        for told, said in [
            ('full = ["h2"]', "full"),
            ('resumed = ["h4"]', "'h4' is not allowed"),
            ("resumed = []", "must not be empty"),
            ('early = ["h3"]', "h3 is early but not resumed"),
        ]
    ],
    (
        'methods = ["GET", "POST"]',
        'methods = ["GET", "POST"]\nper_connection = true',
        ":25",
        ["per_connection: arrivals is false"],
    ),
    ('h2 = "kernel", h3 = ["', 'h2 = ["cubic"], h3 = ["', ":27", ['h2 can only be "kernel"']),
    *[
        ('h3 = ["cubic", "reno"]}', new, ":27", ["features.congestion", *said])
        for new, said in [
            ('h3 = ["vegas"]}', ["h3: 'vegas' is not allowed", "cubic, reno, bbr"]),
            ('h3 = ["reno", "reno"]}', ["'reno' is listed twice"]),
            ('h3 = ["reno", "fixed"]}', ["fixed must be the only entry"]),
            ('h3 = "cubic"}', ["h3: 'cubic' is not valid", 'write "kernel", or a list of cubic']),
            ("h3 = []}", ["h3: [] is not valid"]),
            ('h3 = "kernel"}', ["h3 needs a list of cubic, reno, bbr"]),
            ('h4 = ["reno"]}', ["h4: 'h4' is not allowed"]),
        ]
    ],
]


@pytest.mark.parametrize(("old", "new", "line", "said"), BAD, ids=[f"{old}->{new}" for old, new, _, _ in BAD])
def test_refused(tmp_path: Path, old: str, new: str, line: str, said: list[str]) -> None:
    assert old in MANIFEST
    with pytest.raises(UserError) as refused:
        small(tmp_path, MANIFEST.replace(old, new, 1))
    assert f"small/subject.toml{line}: " in refused.value.message
    for words in said:
        assert words in refused.value.message


TABLE = f"""{MANIFEST[: MANIFEST.index("congestion =")]}clocks = ["wall"]

[features.congestion]
h1 = "kernel"
h3 = ["cubic", "reno"]
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [('"reno"', '"vegas"', 31), ('h1 = "k', 'h4 = "k', 30), ('h3 = ["c', 'h2 = ["c', 29), ("clocks =", "cloks =", 27)],
)
def test_a_table_of_its_own_has_lines_too(tmp_path: Path, old: str, new: str, line: int) -> None:
    assert small(tmp_path, TABLE).features.congestion["h3"] == ["cubic", "reno"]
    with pytest.raises(UserError, match=f"subject.toml:{line}: features"):
        small(tmp_path, TABLE.replace(old, new))


SILENT = MANIFEST[: MANIFEST.index("[features]")]


@pytest.mark.parametrize(
    ("manifest", "refused"),
    [
        (SILENT, True),
        (SILENT.replace('methods = ["GET"]', 'methods = ["POST"]'), True),  # the client posts
        (SILENT.replace('methods = ["GET"]', 'methods = ["POST"]').replace('["GET", "POST"]', '["GET"]'), False),
        (SILENT.replace('["GET", "POST"]', '["GET"]'), True),  # the server answers
        (SILENT.replace('["h1", "h2", "h3"]', '["h1", "h2"]').replace(', h3 = ["udp"]', ""), False),
    ],
)
def test_who_sends_over_quic_tells_its_controllers(tmp_path: Path, manifest: str, refused: bool) -> None:
    if not refused:
        small(tmp_path, manifest)
        return
    with pytest.raises(UserError, match=r"features\.congestion: h3 needs a list of cubic, reno, bbr"):
        small(tmp_path, manifest)


def _part(subjects: Path, manifest: str) -> Subject:
    write_small(subjects)
    return read_subject(write_small(subjects, manifest, name="part"))


def test_a_part_of_another_is_installed_as_that_one_is(tmp_path: Path) -> None:
    subject = _part(tmp_path, PART)
    assert (subject.installed_as, subject.workshop) == ("small", tmp_path / "small")
    assert subject.install.build == ["sh", "build.sh", "{prefix}"]
    assert subject.install.needs_help == "any Unix"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('"small"', '"smal"', ":11", ["there is no subject 'smal' next to this one; the only choice is small"]),
        ('"small"', '"part"', ":11", ["there is no subject 'part' next to this one"]),
        ('"small"', "1", ":11", ["there is no subject 1 next to this one"]),
        ('"small"', '"small"\nneeds = ["sh"]', ":11", ["only key, without needs, which the other subject states"]),
        ('version = "1"', 'version = "2"', ":6", ["version is '2', and that of small, which it is a part of, '1'"]),
    ],
)
def test_a_part_of_nothing_is_refused(tmp_path: Path, old: str, new: str, line: str, said: list[str]) -> None:
    with pytest.raises(UserError) as refused:
        _part(tmp_path, PART.replace(old, new, 1))
    assert f"part/subject.toml{line}: " in refused.value.message
    for words in said:
        assert words in refused.value.message


def test_a_part_of_a_part_is_refused(tmp_path: Path) -> None:
    _part(tmp_path, PART)
    further = PART.replace('"part"', '"further"').replace('"small"', '"part"')
    with pytest.raises(UserError, match="part is itself a part of small; name that one"):
        read_subject(write_small(tmp_path, further, name="further"))


def test_no_role_at_all(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"\[server\], \[client\], \[backend\], \[origin\], \[probe\], \[scout\] or \[spoiler\]"
    ):
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


def test_a_folder_that_is_not_there_is_not_one_without_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_SUBJECTS", "/no/such/folder")
    with pytest.raises(UserError, match="H123_SUBJECTS names /no/such/folder: there is no such folder"):
        catalogue()


def test_a_subject_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path))
    none = unknown_subject("x")
    assert (none.message, none.remedy) == ("there is no subject 'x'", f"{tmp_path} has none: docs/tutorial.md adds one")
    small(tmp_path)
    assert unknown_subject("smal", ["others"]).remedy == "did you mean small? The choices are small, others"
    own = unknown_subject("go")
    assert own.message == f"there is no subject 'go' in {tmp_path}, which H123_SUBJECTS names"
    assert (
        own.remedy == f"it is one of the project's own: ln -s {typed(project_root() / 'subjects/go')} {typed(tmp_path)}"
    )


def test_the_projects_own_subjects_are_right() -> None:
    subjects = catalogue()
    assert "go" in subjects
    for subject in subjects.values():
        assert subject.install.needs_help


def test_a_broken_manifest_is_a_warning_to_all_but_those_who_ask_for_the_subject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path))
    small(tmp_path)
    manifest = write_small(tmp_path, MANIFEST.replace('"small"', '"odd"').replace("stack", "stak"), name="odd")
    assert [list(catalogue()), list(catalogue())] == [["small"], ["small"]]
    said = f"{manifest}/subject.toml:4: unknown key 'stak'; did you mean stack?"
    warned = " ".join(capsys.readouterr().err.split())
    assert warned.startswith(f"h123: warning: {said}")
    assert warned.count("warning") == 1
    for ask in (lambda: catalogue()["odd"], lambda: "odd" in catalogue()):
        with pytest.raises(UserError) as refused:
            ask()
        assert refused.value.message.startswith(said)
    assert "none" not in catalogue()
