"""`h123 verify NAME`: the contract test as a person meets it."""

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Literal
from unittest.mock import Mock

import pytest

from catalogue.own_cache import own_cache
from catalogue.small import MANIFEST, write_small
from cli.conftest import ROOT, Tool
from h123 import verification
from h123.base.errors import UserError
from h123.base.transport import SETTINGS
from h123.catalogue import catalogue
from h123.cli.subjects import verify
from h123.cli.subjects.verify import verify_subjects
from h123.verification import Result

pytestmark = pytest.mark.usefixtures("leaves_nothing_behind")

ALL, ONE = 'protocols = ["h1", "h2", "h3"]\nmethods = ["GET", "POST"]', 'protocols = ["h1"]\nmethods = ["GET"]'
LISTENS = ', h2 = ["tcp"], h3 = ["udp"]'
SESSIONS = re.compile(r"^sessions = .*\n", re.MULTILINE)
NONE = '""'


@pytest.fixture(autouse=True)
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That of the embedded subject, which here speaks HTTP/1.1 only; it is installed in a cache of the test's own."""
    cache = own_cache(tmp_path)
    for name in ("go", "fake-gcs"):
        shutil.copytree(ROOT / "subjects" / name, tmp_path / "subjects" / name)
    path = tmp_path / "subjects/go/subject.toml"
    text = SESSIONS.sub("", path.read_text().replace(ALL, ONE).replace(LISTENS, ""))
    text = text.replace('"{tls}"', '"1.3"').replace('"{key_share}"', '"X25519"')
    head, _, features = text.partition("[features]")
    path.write_text(re.sub(rf'"{{({"|".join(SETTINGS)})}}"', NONE, head) + features[features.index("[[parts]]") :])
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path / "subjects"))
    monkeypatch.setenv("H123_CACHE", str(cache))
    return path


def test_a_subject_that_is_as_declared(h123: Tool) -> None:
    done = h123.succeed("verify", "go", "--role", "server")
    assert "go as a server" in done.stderr
    assert "constants of go as a server: not measured, the subject does not run under the virtual clock" in done.stderr
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("go "))
    assert row[:2] == ["go", "server"]
    assert row[3:] == ["passed", "-", "-"]
    record = json.loads((h123.folder / "cache/verified/go.json").read_text())
    # A machine that is very busy is not asked for the last of these.
    assert {"100 downloads at once", "clean stop", "GET 1100000000"} <= {one["check"] for one in record["results"]}


def test_a_subject_that_is_not_as_declared(h123: Tool, manifest: Path) -> None:
    manifest.write_text(manifest.read_text().replace('"--protocol", "{protocol}"', '"--protocol", "h2"'))
    done = h123("verify", "go", "--role", "server")
    assert done.returncode == 1
    assert "failed verification: go" in done.stderr
    assert "go as a server: h1 connection failed: " in done.stdout
    place = Path(done.stdout.partition("h1 connection failed: ")[2].split("(")[1].split(")")[0].replace("\n", ""))
    assert json.loads((place / "report.json").read_text())["id"] == "h1-wall"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify"], "give either subject names or --all"),
        (["verify", "--all", "--missing"], "give either --all or --missing"),
        (["verify", "goo"], "goo is neither a subject nor the folder of a campaign or trial"),
        (["verify", "goo"], "did you mean go?"),
        (["verify", "go", "og"], "there is no subject 'og'"),
        (["verify", "fake-gcs"], "nothing to verify: fake-gcs is neither a server nor a client"),
        (["verify", "subjects"], "not the folder of a campaign's trial"),
        (["verify", "subjects", "--constants"], "--constants applies to subjects only"),
    ],
)
def test_mistakes(h123: Tool, arguments: list[str], said: str) -> None:
    assert said in h123.refusal(*arguments)


@pytest.mark.parametrize("names", [["go"], []])
def test_missing_checks_of_named_subjects_or_of_all(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    verified = Mock()
    monkeypatch.setattr(verify, "verify_subjects", verified)
    verify.command(names, missing=True)
    [subjects, everything, _] = verified.call_args.args
    assert everything is not bool(names)
    assert [subject.name for subject in subjects] == (names or [*catalogue()])
    assert verified.call_args.kwargs["missing"]


def test_nothing_is_verified_where_nothing_is_installed(h123: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_CACHE", str(h123.folder / "empty"))
    done = h123("verify", "--all")
    assert done.returncode == 1
    assert "no subject is installed" in done.stderr


def test_a_role_is_for_subjects_that_have_it(h123: Tool) -> None:
    assert "nothing to verify: fake-gcs is not a client" in h123.refusal("verify", "fake-gcs", "--role", "client")
    assert "--role applies to subjects only" in h123.refusal("verify", "subjects", "--role", "client")


def test_without_the_subject_that_asks_nothing_is_asked(h123: Tool) -> None:
    shutil.rmtree(h123.folder / "subjects/go")
    write_small(h123.folder / "subjects")
    for command in (["verify", "small"], ["matrix", "--servers", "small", "--clients", "small"]):
        assert "subject go is missing from" in h123.refusal(*command)


@pytest.mark.parametrize(("verdict", "said"), [("passed", True), ("failed", False)])
def test_ones_own_is_verified_for_measuring(
    h123: Tool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verdict: Literal["passed", "failed"],
    said: bool,
) -> None:
    """What its checks found is made up here."""
    write_small(h123.folder / "subjects")
    found = {"small": [Result(role="server", protocol="h1", check="GET 1000", verdict=verdict, detail="")]}
    monkeypatch.setattr(verification, "verify_each", lambda *_: found)
    monkeypatch.setattr(verification, "measure_each", lambda *_: None)
    monkeypatch.setattr(verification, "move_each", lambda *_: None)
    with suppress(UserError):
        verify_subjects([catalogue()["small"]], False, "server", only=None)
    assert ("Verified for measuring, not for the catalogue (h123 publish): small" in capsys.readouterr().out) == said


def test_who_asks_must_be_the_one_that_is_here(h123: Tool, manifest: Path) -> None:
    """Its sources have changed and cannot be built any more; the old program is still there."""
    write_small(h123.folder / "subjects")
    manifest.write_text(manifest.read_text().replace('build = ["./install.sh"', 'build = ["false"'))
    done = h123("verify", "small", "--role", "server")
    assert done.returncode == 1
    assert "subject go: the build failed with exit status 1" in done.stderr
    assert not (h123.folder / "cache/verified").exists()


@pytest.mark.parametrize(
    ("verified_with", "said"),
    [("goo", "there is no subject 'goo'"), ("go", "subject go as a server does not support method POST")],
)
def test_a_client_that_is_verified_with_a_server_that_will_not_do(h123: Tool, verified_with: str, said: str) -> None:
    subjects = h123.folder / "subjects"
    write_small(subjects, MANIFEST.replace("[features]", f'verified_with = "{verified_with}"\n\n[features]'))
    assert f"{subjects}/small/subject.toml: verified_with: {said}" in h123.refusal(
        "verify", "small", "--role", "client"
    )


def test_a_client_whose_server_cannot_be_installed_is_not_asked(h123: Tool) -> None:
    subjects = h123.folder / "subjects"
    broken = MANIFEST.replace('"small"', '"poor"').replace('methods = ["GET"]', 'methods = ["GET", "POST"]')
    write_small(subjects, broken, build="exit 1\n", name="poor")
    write_small(subjects, MANIFEST.replace("[features]", 'verified_with = "poor"\n\n[features]'))
    done = h123("verify", "small", "--role", "client")
    assert done.returncode == 1
    assert "Not verified, because the server for these clients could not be installed: small" in done.stdout
    assert "subject poor: the build failed with exit status 1" in done.stderr
    assert not (h123.folder / "cache/verified").exists()
