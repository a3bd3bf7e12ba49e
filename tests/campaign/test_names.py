"""What people call a campaign's folder: it works to the end, or is refused before the first trial."""

import os
from pathlib import Path

import pytest

from campaign.scripted import ScriptedEngine, run_scripted
from campaign.test_runner import STUDY, Silent, extended, start
from h123.analysis import analyse
from h123.base.errors import UserError
from h123.base.paths import typed
from h123.base.terminal.console import out_console
from h123.measures import export, load_attempts
from h123.report import print_summary
from h123.store import CampaignFolder
from synthetic import Scenario, make_campaign

SMALL = STUDY.replace("[h1, h2, h3]", "[h2, h3]").replace("blocks: 2", "blocks: 1")
NAMES = ["camp-10:30", "~/x", "s3://d", "-x", "it's", '"\\', "x]", "{a}", "%20", "größer", "a" * 255]
MORE = ["~t", "a, b", "$HOME", "&|;#"]
"""Others of whose kind are among these."""


@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(name, marks=pytest.mark.heavy) for name in MORE)])
def test_a_campaign_works_under_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    out = Path(name)
    run_scripted(start(tmp_path, SMALL, out), engine := ScriptedEngine(), Silent())
    folder = CampaignFolder.open(out)
    assert len(load_attempts(folder)) == len(engine.ran) == 6
    assert all(path.stat().st_size for path in export(folder, "csv", out / "export"))
    assert extended(out, 2).folder.path == out


def test_so_does_its_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = make_campaign(Path("~:x:<i>&amp;'\" "), Scenario(blocks=6))
    out_console.width = 200
    with out_console.capture() as shown:
        print_summary(analyse(folder), out_console, folder.path)
    assert "h123 run --out '~:x:<i>&amp;'\"'\"'\" ' --blocks" in shown.get().replace("\n", " ")


@pytest.mark.parametrize("name", [b"a\nb", b"\x1b", b"t\tb", b"\xff", b"d/\xff/e", b"del\x7f", b"c[1]", b"*", b"a?"])
def test_names_that_are_not_text_or_are_patterns_are_refused(tmp_path: Path, name: bytes) -> None:
    out = tmp_path / os.fsdecode(name)
    with pytest.raises(UserError, match="cannot be used for results") as refused:
        start(tmp_path, SMALL, out)
    assert refused.value.message.isascii()
    assert refused.value.message.isprintable()
    assert not out.exists()
    moved = start(tmp_path, SMALL).folder.path.rename(tmp_path / os.fsdecode(name.replace(b"/", b"")))
    with pytest.raises(UserError, match="cannot be used for results"):
        CampaignFolder.open(moved)


def test_places_where_no_folder_can_be_are_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("h123.campaign.runner.prepare_campaign", lambda *_: pytest.fail("something is built"))
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    for place in ("file", "file/below", "link", "link/below"):
        with pytest.raises(UserError, match="is a file, or a link that leads nowhere"):
            start(tmp_path, SMALL, tmp_path / place)
    with pytest.raises(UserError, match="longer than"):
        start(tmp_path, SMALL, tmp_path.joinpath(*["a" * 250] * 16))
    (tmp_path / "full").mkdir()
    (tmp_path / "full/letter").touch()
    with pytest.raises(UserError, match="letter"):
        start(tmp_path, SMALL, tmp_path / "full")


def test_a_folder_behind_a_link_is_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    run_scripted(start(tmp_path, SMALL, tmp_path / "link"), ScriptedEngine(), Silent())
    assert len(load_attempts(CampaignFolder.open(tmp_path / "real"))) == 6


@pytest.mark.parametrize(
    ("path", "text"), [("a", "a"), ("-x", "./-x"), ("- x", "'./- x'"), ("~t", "'~t'"), ("/-x", "/-x")]
)
def test_paths_are_written_as_one_types_them(path: str, text: str) -> None:
    assert typed(Path(path)) == text
