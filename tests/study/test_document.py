"""Whatever a YAML file holds, and whatever stands in a file's place: one sentence, and no waiting."""

import os
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.study import load_network, load_study, make_plan, yaml_document
from study.samples import STUDY, write

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)

ODD = [
    # (content, line of the complaint, words in it)
    (BOMB, 5, "over 100000 values"),
    ("a: &x\n- [*x]\n", 1, "an alias that contains itself"),
    ("name: a\nquestion: a\0b\n", 2, "the character U+0000 is not allowed"),
    ('name: a\nquestion: "a\\0b"\n', 2, "a character that is not allowed, U+0000"),
    ('name: a\nquestion: "\\ud800"\n', 2, "a character that is not allowed, U+D800"),
    ('name: a\nquestion: "\\e[2J"\n', 2, "a character that is not allowed, U+001B"),
    ('name: a\nquestion: "\\Uffffffff"\n', 2, "not valid YAML"),
    ('name: a\nblocks: !!int ""\n', 2, "'' is not a valid int"),
    ("name: a\nblocks: !!float x\n", 2, "'x' is not a valid float"),
    ("name: a\nblocks: !!bool 7\n", 2, "'7' is not a valid bool"),
    ("name: a\nblocks: !!timestamp soon\n", 2, "'soon' is not a valid timestamp"),
    ("name: a\nblocks: 2026-99-99\n", 2, "'2026-99-99' is not a valid timestamp"),
    ("name: a\nblocks: " + "9" * 5000 + "\n", 2, "is not a valid int"),
    ("name: a\nblocks: 0x" + "f" * 5000 + "\n", 2, "too many digits"),
    ("name: a\nblocks: " + "[" * 5000 + "]" * 5000 + "\n", 2, "nested too deeply"),
    ("name: a\n? [1, 2]\n: b\n", 2, "a key is a list or a map"),
    ("name: a\n{a: 1}: b\n", 2, "a key is a list or a map"),
    ("name: a\nblocks: !!python/object:os.system {}\n", 2, "tags such as !this are not allowed"),
    ("name: a\nblocks: 1:30\n", 2, "YAML reads 1:30 as a number to base 60"),
    ("name: a\nblocks: 1:30.5\n", 2, "YAML reads 1:30.5 as a number to base 60"),
    ("name: a\nblocks: 010\n", 2, "YAML reads 010 as an octal number"),
    ("name: a\nblocks:\n", 2, "there is no value here"),
    ("name: a\nfactors:\n  size: [1kB, ]\n  loss:\n", 4, "there is no value here"),
    ("name: a\nblocks: [1,\n  -0o7, 1:0:0]\n", 3, "YAML reads 1:0:0 as a number to base 60"),
    ("#" * 100_001, None, "it is larger than 100 kB"),
]


@pytest.mark.parametrize(("content", "line", "said"), ODD, ids=[f"{content[:20]!r} {said}" for content, _, said in ODD])
def test_refused_with_its_line(tmp_path: Path, content: str, line: int | None, said: str) -> None:
    with pytest.raises(UserError) as refused:
        load_study(write(tmp_path, content))
    assert refused.value.message.startswith(f"{tmp_path}/sample.yaml:{f'{line}: ' if line else ''}")
    assert said in refused.value.message
    assert len(refused.value.message) < 1000


PARAMETERS = [
    # (setting, words of the complaint)
    ("size: 1e999999B", "'1e999999B' is too large"),
    ("size: 1e999999999999999999999B", "does not start with a number"),
    ("size: 1.5", "1.5 is not a whole number"),
    ("size: 0.5B", "'0.5B' is not a whole number"),
    ("timeout: 1.5ns", "'1.5ns' is not a whole number"),
    ("size: 1.2.3B", "does not start with a number"),
    ("size: " + "9" * 90_000 + "B", "is not valid"),
    ("size: 1" + " " * 90_000 + "B B", "is not valid"),
    ("size: ٣kB", "is not valid"),
    ("size: 200GB", "the largest that makes sense here is 100GB"),
    ("timeout: 1e18s", "'1e18s' is too large"),
    ("trial_timeout: 1e30s", "'1e30s' is too large"),
    ("trial_timeout: 169h", "the largest that makes sense here is 168h"),
    ("rate: 1.0e-300", "at least 0.001"),
    ("rate: 1.0e+300", "at most 1000000"),
    ("connections: " + "9" * 70, "is not valid; write shared"),
    ("connections: [" + "x, " * 30_000 + "x]", "is not valid; write shared"),
    ("users: 2026-01-01", "found 2026-01-01"),
    ("network: " + "x" * 5000 + ".yaml", "network file not found"),
]


@pytest.mark.parametrize(
    ("setting", "said"), PARAMETERS, ids=[f"{setting[:20]} {said}" for setting, said in PARAMETERS]
)
def test_parameters_beyond_all_sense(tmp_path: Path, setting: str, said: str) -> None:
    text = STUDY.replace("  size: 10kB\n", "").replace("timeout: 5s", setting)
    if setting.startswith("network"):
        text = text.replace("  network: [lan, poor]\n", "").replace(", each: [network]", "")
    with pytest.raises(UserError) as refused:
        load_study(write(tmp_path, text))
    assert refused.value.message.startswith(f"{tmp_path}/sample.yaml:")
    assert said in refused.value.message


@pytest.mark.parametrize("share", ["5%%", "5% %", "%", "", "1_0%", "nan", "5 percent"])
def test_only_one_per_cent_sign(tmp_path: Path, share: str) -> None:
    with pytest.raises(UserError, match="is not a share"):
        load_study(write(tmp_path, STUDY.replace("margin: 5%", f"margin: '{share}'")))


def test_what_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    (tmp_path / "folder.yaml").mkdir()
    for path, kind in ((pipe, "a named pipe"), (Path("/dev/zero"), "a device"), (tmp_path / "folder.yaml", "a folder")):
        for read in (load_study, lambda path: load_network(str(path))):
            with pytest.raises(UserError, match=f"^{path}: cannot be read: it is {kind}, not a file"):
                read(path)
    write(tmp_path, "h123: network/1\nname: n\ntitle: t\nboth:\n  trace: /dev/zero\n  queue: 9p\n", "n.yaml")
    with pytest.raises(UserError, match=r"n\.yaml:5: .*/dev/zero: cannot be read: it is a device"):
        load_network(str(tmp_path / "n.yaml"))


def test_a_level_too_many(tmp_path: Path) -> None:
    many = ", ".join(map(str, range(1, 1002)))
    with pytest.raises(UserError, match=r":13: factor 'requests' has 1001 levels; at most 1000"):
        load_study(
            write(tmp_path, STUDY.replace("settings:", f"  x: {{a: {{warmup: 1}}}}\n  requests: [{many}]\nsettings:"))
        )


def test_more_than_anybody_can_run(tmp_path: Path) -> None:
    study = load_study(write(tmp_path))
    with pytest.raises(UserError, match="1000000000 blocks of 12 trials or more are too many"):
        make_plan(study, blocks=1_000_000_000)
    with pytest.raises(UserError, match="at most 30000 trials"):
        make_plan(study, blocks=15_001, level_filter={"network": ["lan"], "load": ["light"]})
    many = ", ".join(map(str, range(1, 1001)))
    wide = STUDY.replace("settings:", f"  warmup: [{many}]\n  port: [{many}]\nsettings:")
    with pytest.raises(UserError, match="its factors make 12000000 treatments; at most 3000"):
        make_plan(load_study(write(tmp_path, wide)))


WRITTEN = [path.read_text("utf-8") for path in sorted(project_root().glob("[!.]*/*.yaml"))]
LENIENT = ["a: {b: c?  d}\n", "a: [b?c]\n", "a: b\tc\n", "a: \t{b: c}\n", "\ufeffa: b\n", "a: b\n\ufeffc: d\n"]


@pytest.mark.parametrize("text", [*WRITTEN, *LENIENT])
def test_the_library_in_c_reads_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, "utf-8")
    fast = _content(path)
    monkeypatch.setattr(yaml_document, "_FastLoader", yaml_document._Loader)
    assert fast == _content(path)


def _content(path: Path) -> tuple[object, list[int]] | str:
    """The data and the lines of its parts, or the complaint."""
    try:
        document = yaml_document.YamlDocument(path)
    except UserError as error:
        return error.message
    return document.data, [document.line([key]) for key in document.data]
