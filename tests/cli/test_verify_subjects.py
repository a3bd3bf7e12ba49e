"""`h123 verify NAME`: the contract test as a person meets it."""

import json
import shutil
from pathlib import Path

import pytest

from cli.conftest import ROOT, Tool
from h123.catalogue import catalogue, install, prefix

pytestmark = pytest.mark.usefixtures("leaves_nothing_behind")

ALL, ONE = 'protocols = ["h1", "h2", "h3"]\nmethods = ["GET", "POST"]', 'protocols = ["h1"]\nmethods = ["GET"]'
CLOCKS, WALL = 'clocks = ["wall", "virtual"]', 'clocks = ["wall"]'


@pytest.fixture(autouse=True)
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That of the embedded subject, which here speaks HTTP/1.1 only; it is installed in a cache of the test's own."""
    built = catalogue()["go"]
    install(built, lambda _: None)
    for name in ("go", "fake-gcs"):
        shutil.copytree(ROOT / "subjects" / name, tmp_path / "subjects" / name)
    (tmp_path / "cache/subjects").mkdir(parents=True)
    (tmp_path / "cache/subjects/go").symlink_to(prefix(built))
    path = tmp_path / "subjects/go/subject.toml"
    path.write_text(path.read_text().replace(ALL, ONE).replace(CLOCKS, WALL))
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path / "subjects"))
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "cache"))
    return path


def test_a_subject_that_is_as_declared(h123: Tool) -> None:
    done = h123("verify", "go", "--role", "server", timeout=120)
    assert done.returncode == 0, done.stderr
    assert "go as a server" in done.stderr
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("go "))
    assert row[:2] == ["go", "server"]
    assert row[3:] == ["passed", "-", "-"]
    record = json.loads((h123.folder / "cache/verified/go.json").read_text())
    assert {"100 downloads at once", "clean stop"} <= {result["check"] for result in record["results"]}


def test_a_subject_that_is_not_as_declared(h123: Tool, manifest: Path) -> None:
    manifest.write_text(manifest.read_text().replace('"--protocol", "{protocol}"', '"--protocol", "h2"'))
    done = h123("verify", "go", "--role", "server", timeout=120)
    assert done.returncode == 1
    assert "not as declared: go" in done.stderr
    assert "go as a server: h1 connection failed: " in done.stdout
    place = Path(done.stdout.split("(")[-1].split(")")[0].replace("\n", ""))
    assert json.loads((place / "report.json").read_text())["id"] == "h1-wall"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify"], "name subjects, or say --all"),
        (["verify", "goo"], "goo is neither a subject nor a folder"),
        (["verify", "goo"], "did you mean go?"),
        (["verify", "go", "og"], "there is no subject 'og'"),
        (["verify", "fake-gcs"], "there is nothing to verify"),
        (["verify", "subjects"], "not the folder of a campaign's trial"),
    ],
)
def test_mistakes(h123: Tool, arguments: list[str], said: str) -> None:
    done = h123(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
