"""Installation: whole or not at all, once, and again when sources change."""

import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from catalogue.small import BUILD, MANIFEST, PART, small, write_small
from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.catalogue import (
    catalogue,
    damage,
    fingerprint,
    install,
    installed,
    installed_once,
    prefix,
    read_subject,
)
from h123.cli.machine.doctor import diagnose
from h123.cli.subjects.subject_listing import print_subject, print_subjects

pytestmark = pytest.mark.usefixtures("cache")


def _builds(cache: Path) -> int:
    log = cache / "subjects/builds"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_built_once_and_runs(tmp_path: Path, cache: Path) -> None:
    subject, said = small(tmp_path), list[str]()
    assert not installed(subject)
    install(subject, said.append)
    install(subject, said.append)
    assert installed(subject)
    assert _builds(cache) == 1
    assert len(said) == 1
    assert prefix(subject) == cache / "subjects/small"
    assert subprocess.check_output(["sh", prefix(subject) / "serve"], text=True) == "serving\n"


@pytest.mark.parametrize("change", ["content", "manifest", "new file", "executable"])
def test_changed_sources_build_again(tmp_path: Path, cache: Path, change: str) -> None:
    assert not installed_once(small(tmp_path))
    install(small(tmp_path), print)
    match change:
        case "content":
            (tmp_path / "small/serve").write_text("#!/bin/sh\necho better\n")
        case "manifest":
            write_small(tmp_path, MANIFEST.replace('version = "1"', 'version = "2"'))
        case "new file":
            (tmp_path / "small/more").write_text("")
        case "executable":
            (tmp_path / "small/serve").chmod(0o755)
    subject = read_subject(tmp_path / "small")
    assert not installed(subject)
    assert installed_once(subject)
    install(subject, print)
    assert installed(subject)
    assert _builds(cache) == 2
    assert (prefix(subject) / "serve").read_text() == (tmp_path / "small/serve").read_text()


def test_byproducts_of_work_on_a_subject_do_not_count(tmp_path: Path) -> None:
    subject = small(tmp_path)
    install(subject, print)
    (tmp_path / "small/target").mkdir()
    (tmp_path / "small/target/object").write_text("compiled")
    assert installed(subject)


def test_go_tests_do_not_count(tmp_path: Path) -> None:
    subject = small(tmp_path)
    install(subject, print)
    before = fingerprint(subject)
    (tmp_path / "small/serve_test.go").write_text("package main\n")
    assert installed(subject)
    assert fingerprint(subject) == before


def test_what_the_build_does_not_depend_on_builds_nothing_anew(tmp_path: Path) -> None:
    subject = small(tmp_path)
    install(subject, print)
    before = fingerprint(subject)
    write_small(tmp_path, MANIFEST.replace('"reno"]', '"reno", "bbr"]'))
    subject = read_subject(tmp_path / "small")
    assert installed(subject)
    assert fingerprint(subject) != before  # but what was verified is another subject


def test_prose_in_the_manifest_is_not_what_was_verified(tmp_path: Path) -> None:
    before = fingerprint(small(tmp_path))
    write_small(tmp_path, "# A comment\n" + MANIFEST.replace('title = "', 'note = "Slow."\ntitle = "Another '))
    assert read_subject(tmp_path / "small").note == "Slow."
    assert fingerprint(read_subject(tmp_path / "small")) == before
    write_small(tmp_path, MANIFEST.replace('language = "sh"', 'language = "Ada"'))
    assert fingerprint(read_subject(tmp_path / "small")) != before


def test_a_clone_of_another_umask_is_the_same_subject(tmp_path: Path) -> None:
    subject = small(tmp_path)
    script = subject.folder / "build.sh"
    script.chmod(0o755)
    before = fingerprint(subject)
    script.chmod(0o700)
    assert fingerprint(subject) == before
    script.chmod(0o600)
    assert fingerprint(subject) != before


def test_a_part_of_another_is_built_with_it_and_known_by_the_files_of_both(tmp_path: Path, cache: Path) -> None:
    whole = small(tmp_path)
    part = read_subject(write_small(tmp_path, PART, name="part"))
    install(part, print)
    assert installed(whole)
    assert prefix(part) == prefix(whole)
    assert _builds(cache) == 1
    before = fingerprint(part), fingerprint(whole)
    (tmp_path / "part/more").write_text("")
    assert installed(part)  # the build does not see it
    assert (fingerprint(part) != before[0], fingerprint(whole) != before[1]) == (True, False)
    (tmp_path / "small/serve").write_text("#!/bin/sh\necho better\n")
    assert not installed(part)
    assert fingerprint(whole) != before[1]
    install(whole, print)
    assert installed(part)
    assert _builds(cache) == 2


def test_failed_build_shows_its_end_and_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    build = 'for n in $(seq 40); do echo "line $n"; done; echo "no such library" >&2; exit 3'
    subject = small(tmp_path, build=build)
    with pytest.raises(UserError) as failed:
        install(subject, print)
    assert "status 3" in failed.value.message
    assert "no such library" in failed.value.message
    assert "line 40" in failed.value.message
    assert "line 2\n" not in failed.value.message
    log = cache / "subjects/small.log"
    assert str(log) in (failed.value.remedy or "")
    assert log.read_text().startswith("line 1\n")
    assert not installed(subject)
    assert sorted(path.name for path in log.parent.iterdir()) == ["small.lock", "small.log"]


def test_failed_rebuild_keeps_the_old_installation_but_does_not_trust_it(tmp_path: Path) -> None:
    install(small(tmp_path), print)
    subject = small(tmp_path, build="exit 1")
    with pytest.raises(UserError):
        install(subject, print)
    assert (prefix(subject) / "serve").exists()
    assert not installed(subject)


def test_an_installation_that_lost_a_file_is_built_again(tmp_path: Path, cache: Path) -> None:
    subject, said = small(tmp_path), list[str]()
    install(subject, print)
    assert damage(subject) is None
    (prefix(subject) / "serve").unlink()
    assert damage(subject) == prefix(subject) / "serve"
    assert not installed(subject)
    install(subject, said.append)
    assert said == [f"{prefix(subject) / 'serve'} is missing, so small is built again"]
    assert installed(subject)
    assert _builds(cache) == 2


def test_what_commands_name_must_come_of_the_build(tmp_path: Path) -> None:
    subject = small(tmp_path, build="true")
    with pytest.raises(UserError, match=r"the build succeeded, but .*/small/serve is missing"):
        install(subject, print)
    assert not installed(subject)


def test_a_broken_installation_is_seen_by_list_and_doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path))
    monkeypatch.setattr("h123.cli.machine.doctor._lab", list)
    subject = small(tmp_path)

    def seen() -> tuple[str, str, bool]:
        console = Console(width=200, file=io.StringIO())
        with console.capture() as table:
            print_subjects(console)
        with console.capture() as page:
            print_subject(subject, console)
        checked = next(check.ok for check in diagnose() if check.name == "subjects")
        return table.get().partition("\n\n")[0], page.get(), checked

    assert seen()[2]
    install(subject, print)
    assert "broken" not in seen()[0]
    (prefix(subject) / "serve").unlink()
    table, page, checked = seen()
    assert "broken" in table
    assert "h123 install small" in " ".join(page.split())
    assert not checked


def test_missing_tool_says_how_to_get_it(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST.replace('needs = ["sh"]', 'needs = ["sh", "no-such-tool"]'))
    with pytest.raises(UserError) as refused:
        install(subject, print)
    assert "no-such-tool" in refused.value.message
    assert refused.value.remedy == "any Unix"


def test_build_command_that_is_not_there(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST.replace('["sh", "build.sh"', '["no-such-tool", "build.sh"'))
    with pytest.raises(UserError, match="could not run no-such-tool"):
        install(subject, print)


FETCHES = f'{BUILD}touch "$HOME/fetched" && rm "$HOME/fetched" && echo "$HOME" > "$1/home"\n'


@pytest.mark.parametrize("home", [None, "", "/nonexistent"])
def test_a_build_has_a_home_that_it_can_write_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    monkeypatch.setenv("HOME", home or "")
    if home is None:
        monkeypatch.delenv("HOME")
    install(small(tmp_path, build=FETCHES), print)  # whose build fails without


def test_a_build_has_the_home_that_we_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    subject = small(tmp_path, build=FETCHES)
    install(subject, print)
    assert (prefix(subject) / "home").read_text() == f"{tmp_path}\n"


INSTALL = """
from functools import partial
from h123.catalogue import catalogue, install
install(catalogue()["small"], partial(print, flush=True))
"""


def _start(subjects: Path) -> "subprocess.Popen[str]":
    env = {**os.environ, "H123_SUBJECTS": str(subjects), "PYTHONPATH": str(project_root() / "src")}
    return subprocess.Popen([sys.executable, "-c", INSTALL], env=env, stdout=subprocess.PIPE, text=True)


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)


def test_two_processes_at_once_build_once(tmp_path: Path, cache: Path) -> None:
    """The second comes while the first one builds: the build waits until it has been told to go on."""
    write_small(tmp_path, build=f'{BUILD}while [ ! -e "$(dirname "$1")/go" ]; do sleep 0.01; done\n')
    first = _start(tmp_path)
    _wait_for(cache / "subjects/builds")
    second = _start(tmp_path)
    assert second.stdout
    assert "waiting for another" in second.stdout.readline()
    (cache / "subjects/go").touch()
    assert first.wait(120) == second.wait(120) == 0
    assert _builds(cache) == 1
    assert installed(read_subject(tmp_path / "small"))


def test_killed_installation_is_never_taken_for_whole(tmp_path: Path, cache: Path) -> None:
    waiting = f'{BUILD}n=0; while [ ! -e "$(dirname "$1")/go" ] && [ $n -lt 30000 ]; do sleep 0.01; n=$((n+1)); done\n'
    write_small(tmp_path, build=waiting)
    process = _start(tmp_path)
    _wait_for(cache / "subjects/builds")
    process.send_signal(signal.SIGKILL)
    process.wait(120)
    (cache / "subjects/go").touch()
    subject = read_subject(tmp_path / "small")
    assert not installed(subject)
    install(subject, print)
    assert installed(subject)
    assert not list((cache / "subjects").glob("*.partial"))


@pytest.mark.parametrize("blow", [signal.SIGHUP, signal.SIGTERM, signal.SIGKILL])
def test_all_of_a_build_ends_with_the_installation(tmp_path: Path, blow: signal.Signals) -> None:
    """What the build itself has started, too: its lock is free now, and its folder another one's."""
    write_small(tmp_path, build=f"{BUILD}sh -c 'echo $$ > \"{tmp_path}/pid\"; sleep 600; :'\n")
    env = {**os.environ, "H123_SUBJECTS": str(tmp_path), "PYTHONPATH": str(project_root() / "src")}
    command = ["env", "--default-signal=HUP", sys.executable, "-m", "h123", "install", "small"]
    process = subprocess.Popen(command, env=env)
    _wait_for(tmp_path / "pid")
    process.send_signal(blow)
    assert process.wait(120) == (-blow if blow == signal.SIGKILL else 130)
    _wait_for_end(int((tmp_path / "pid").read_text()))


def _wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 120
    while _runs(pid):
        assert time.monotonic() < deadline, f"{pid} still runs"
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_the_go_subject_installs() -> None:
    """The real thing, from the compiler's own cache when that is warm."""
    subject = catalogue()["go"]
    install(subject, print)
    assert os.access(prefix(subject) / "h123-go", os.X_OK)


def test_two_builds_of_the_go_subject_are_equal(tmp_path: Path) -> None:
    """Neither the folder of the sources nor a temporary folder leaves a trace in the program."""
    programs = set()
    for name in ("first", "the second – elsewhere"):
        sources, temporary = tmp_path / name / "go", tmp_path / name / "temporary files"
        shutil.copytree(catalogue()["go"].folder, sources)
        temporary.mkdir()
        environment = {**os.environ, "GOTOOLCHAIN": "local", "TMPDIR": str(temporary)}
        subprocess.run(["./install.sh", tmp_path / name, "server"], cwd=sources, env=environment, check=True)
        programs.add(hashlib.sha256((tmp_path / name / "server").read_bytes()).hexdigest())
        assert list(temporary.iterdir()) == []
    assert len(programs) == 1


def test_a_build_that_changes_its_own_sources_is_refused(tmp_path: Path, cache: Path) -> None:
    """It would be out of date as soon as it is built, and be built again at each run."""
    subject = small(tmp_path, build='echo 2 > generated; cp serve "$1/serve"\n')
    with pytest.raises(UserError, match=r"the build writes into the subject's own folder, such as .*/small/generated"):
        install(subject, print)
    assert not (cache / "subjects/small").exists()


def test_a_program_that_is_nowhere_is_named_at_once(tmp_path: Path) -> None:
    manifest = MANIFEST.replace('command = ["{prefix}/serve", "{workload}"', 'command = ["no-such-tool", "{workload}"')
    for _ in range(2):
        with pytest.raises(UserError, match="the build succeeded, but no-such-tool is missing"):
            install(small(tmp_path, manifest), print)


def test_a_failed_build_is_shown_short(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exit status 3") as found:
        install(small(tmp_path, build="yes line | head -c 1000000 | tr '\\n' ' '; echo; echo at last; exit 3\n"), print)
    assert found.value.message.endswith("  at last")
    assert len(found.value.message) < 1000
