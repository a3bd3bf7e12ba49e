"""What a campaign needs is found out, and got, before its first trial."""

import shutil
from pathlib import Path

import pytest

from campaign.test_runner import STUDY, start
from catalogue.small import MANIFEST, write_small
from h123.catalogue import files_folder
from h123.errors import UserError
from h123.paths import project_root

CLIENT = "settings: {server: go, client: small, cold: false,"


@pytest.fixture(autouse=True)
def subjects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's own, and a place for another one."""
    folder = tmp_path / "subjects"
    shutil.copytree(project_root() / "subjects/go", folder / "go")
    monkeypatch.setenv("H123_SUBJECTS", str(folder))
    monkeypatch.setenv("H123_CACHE", str(tmp_path / "cache"))
    return folder


def test_a_metric_that_the_client_cannot_measure_is_refused_before_anything_is_done(
    tmp_path: Path, subjects: Path
) -> None:
    write_small(subjects, MANIFEST.replace('methods = ["GET", "POST"]', 'methods = ["GET"]\ncold = false'))
    text = STUDY.replace("settings: {server: go, client: go,", CLIENT)
    with pytest.raises(UserError, match="small as a client does not measure ttfb"):
        start(tmp_path / "study", text)
    assert not (tmp_path / "study/out").exists()
    assert not (tmp_path / "cache").exists()


def test_bodies_are_made_for_a_server_of_files(tmp_path: Path, subjects: Path) -> None:
    write_small(subjects, MANIFEST.replace("{congestion}", "{files}"))
    (subjects / "go/subject.toml").write_text(
        (subjects / "go/subject.toml").read_text().replace('build = ["go", "build"', 'build = ["true"')
    )
    start(tmp_path / "study", STUDY.replace("server: go", "server: small"))
    assert (files_folder() / "bytes/1000").stat().st_size == 1000


def test_a_proxy_without_a_server_to_pass_requests_on_to_is_refused(tmp_path: Path, subjects: Path) -> None:
    manifest = MANIFEST.replace("{congestion}", "{upstream}")
    write_small(subjects, manifest.replace('"POST"]', '"POST"]\nttfb = true'))
    shutil.rmtree(subjects / "go")
    with pytest.raises(UserError, match="small passes requests on to the subject go, which is missing in"):
        start(tmp_path / "study", STUDY.replace("server: go, client: go", "server: small, client: small"))
