"""What a campaign needs is found out, and got, before its first trial."""

import shutil
from pathlib import Path

import pytest

from campaign.scripted import ScriptedEngine, run_scripted
from campaign.test_runner import STUDY, Silent, extended, start
from catalogue.small import MANIFEST, write_small
from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.campaign import check_campaign, lacking
from h123.catalogue import files_folder
from h123.study import Plan, load_study, make_plan, parse_filter

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


def pretend_installed(subjects: Path) -> None:
    """Nothing is compiled for a test that executes nothing."""
    manifest, build = subjects / "go/subject.toml", '["./install.sh", "{prefix}", "h123-go"]'
    manifest.write_text(manifest.read_text().replace(build, '["touch", "{prefix}/h123-go"]'))


def test_bodies_are_made_for_a_server_of_files(tmp_path: Path, subjects: Path) -> None:
    write_small(subjects, MANIFEST.replace("{congestion}", "{files}"))
    pretend_installed(subjects)
    start(tmp_path / "study", STUDY.replace("server: go", "server: small"))
    assert (files_folder() / "bytes/1000").stat().st_size == 1000


def test_a_proxy_without_a_server_to_pass_requests_on_to_is_refused(tmp_path: Path, subjects: Path) -> None:
    manifest = MANIFEST.replace("{congestion}", "{upstream}")
    write_small(subjects, manifest.replace('"POST"]', '"POST"]\nttfb = true'))
    shutil.rmtree(subjects / "go")
    with pytest.raises(UserError, match="small forwards requests to the subject go, which is missing in"):
        start(tmp_path / "study", STUDY.replace("server: go, client: go", "server: small, client: small"))


def _plan(folder: Path, text: str, *only: str) -> Plan:
    folder.mkdir(exist_ok=True)
    (folder / "study.yaml").write_text(text)
    return make_plan(load_study(folder / "study.yaml"), level_filter=parse_filter([*only]))


SMALL = MANIFEST.replace('"POST"]', '"POST"]\nttfb = true')
REFUSED = [
    (SMALL.replace('["h1", "h2", "h3"]\nmethods = ["GET", ', '["h1", "h2"]\nmethods = ["GET", '), "", "protocol h3"),
    (MANIFEST, "", "does not measure ttfb"),
    (SMALL, "rate: 5,", "open loop"),
    (SMALL.replace("ttfb", "cold = false\nttfb"), "cold: true,", "cannot make cold requests"),
    (SMALL.replace("ttfb", 'connections = ["shared"]\nttfb'), "connections: 3,", "connections 3"),
    (SMALL, "clock: virtual,", "clock virtual"),
    (SMALL, "qlog: true,", "cannot write qlog"),
    (SMALL, "store: gcs, backend: small,", "has no backend|store gcs"),
    ("h123 = ", "", "subject.toml:1: Invalid value|subject.toml: Invalid value"),
]


@pytest.mark.parametrize(("manifest", "settings", "said"), REFUSED, ids=[said for *_, said in REFUSED])
def test_what_run_would_refuse_is_refused_without_doing_anything(
    tmp_path: Path, subjects: Path, manifest: str, settings: str, said: str
) -> None:
    write_small(subjects, manifest)
    roles = (
        "settings: {server: go, client: small," if "qlog" not in settings else "settings: {server: small, client: go,"
    )
    text = STUDY.replace("settings: {server: go, client: go,", f"{roles} {settings}")
    with pytest.raises(UserError, match=said) as by_plan:
        check_campaign(_plan(tmp_path / "study", text))
    with pytest.raises(UserError) as by_run:
        start(tmp_path / "study", text)
    assert (by_run.value.message, by_run.value.remedy) == (by_plan.value.message, by_plan.value.remedy)
    assert not (tmp_path / "cache").exists()


def test_levels_that_are_left_out_need_no_subject_that_has_them(tmp_path: Path, subjects: Path) -> None:
    write_small(subjects, SMALL.replace('["h1", "h2", "h3"]\nmethods = ["GET", ', '["h1", "h2"]\nmethods = ["GET", '))
    text = STUDY.replace("settings: {server: go, client: go,", "settings: {server: go, client: small,")
    text = text.replace("[h3/h2]", "[h3/h2, h2/h1]")
    assert set(check_campaign(_plan(tmp_path / "study", text, "protocol=h1,h2"))) == {"go", "small"}


def test_a_subject_that_is_gone_is_named(tmp_path: Path, subjects: Path) -> None:
    plan = _plan(tmp_path / "study", STUDY)
    shutil.rmtree(subjects / "go")
    with pytest.raises(UserError, match="the study's server is the subject go, which is missing in"):
        check_campaign(plan)


def test_a_missing_virtual_kernel_does_not_keep_anybody_from_planning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("H123_KERNEL", raising=False)
    virtual = _plan(tmp_path / "study", STUDY.replace("client: go,", "client: go, clock: virtual,"))
    check_campaign(virtual)
    assert "h123 install virtual-kernel" in str((told := lacking(virtual)) and told.remedy)
    assert lacking(_plan(tmp_path / "study", STUDY)) is None


def alike(*, transport: str | None, server: str = "go") -> Plan:
    """The study quick, to which initial windows are essential."""
    study = load_study(project_root() / "studies/quick.yaml").settled(transport=transport)
    compare = study.compare.model_copy(update={"essential": ["initial_window"]})
    settings = {**study.settings, "server": server}
    return make_plan(study.model_copy(update={"compare": compare, "settings": settings}), blocks=1)


def test_a_pair_that_cannot_begin_alike_is_refused_where_that_is_essential(subjects: Path) -> None:
    write_small(subjects)
    check_campaign(alike(transport="matched"))
    with pytest.raises(UserError, match=r"essential, but differs: go's default over h3, 10 packets over h2") as refused:
        check_campaign(alike(transport=None))
    assert refused.value.remedy == "`--transport matched` makes it alike"
    with pytest.raises(UserError, match="small as a server does not let you choose it") as refused:
        check_campaign(alike(transport="matched", server="small"))
    assert refused.value.remedy == "choose a server that does: go"


UPLOADING = "kind: mix, mix: [{method: POST, file: order.json}]"


def test_what_a_study_uploads_is_kept_with_the_campaign(tmp_path: Path, subjects: Path) -> None:
    pretend_installed(subjects)
    (tmp_path / "study").mkdir()
    (tmp_path / "study/order.json").write_bytes(b"x" * 77)
    start(tmp_path / "study", STUDY.replace("method: GET, size: 1kB", UPLOADING))
    (tmp_path / "study/order.json").unlink()
    (tmp_path / "study/out").rename(tmp_path / "moved")
    campaign = extended(tmp_path / "moved")
    copy = tmp_path / "moved/uploads/order.json"
    assert copy.read_bytes() == b"x" * 77
    copy.write_bytes(b"x")
    with pytest.raises(UserError, match=r"order\.json, is missing or no longer has 77 bytes"):
        run_scripted(campaign, ScriptedEngine(), Silent())
    assert campaign.folder.sealed() == []
