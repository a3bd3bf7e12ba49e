"""Where results cannot be written, a command says so before it starts anything."""

from pathlib import Path

import pytest

from cli.conftest import Tool

COMPARE = ("compare", "--server", "touch started", "--url", "https://localhost:8443/", "--out")


@pytest.fixture
def places(h123: Tool) -> Path:
    (h123.folder / "file").touch()
    (h123.folder / "occupied").mkdir()
    (h123.folder / "occupied/letter").touch()
    return h123.folder


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("file", "file is a file"),
        ("file/below", "file is a file"),
        ("occupied", "occupied is not empty (letter is in it)"),
        ("/proc/x", "/proc cannot be written to: No such file or directory"),
        ("/sys/x", "/sys cannot be written to"),
        ("a?", "cannot hold results"),
    ],
)
def test_compare_refuses_a_folder_before_it_starts_the_server(h123: Tool, places: Path, place: str, said: str) -> None:
    done = h123(*COMPARE, place)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Finding out" not in done.stderr
    assert not (places / "started").exists()


@pytest.mark.parametrize("command", [["sleep 1"], []])
def test_compare_refuses_the_folder_of_another_study_at_once(h123: Tool, command: list[str]) -> None:
    assert h123("run", "smoke", "--filter", "network=lan", "--blocks", "1", "--out", "c").returncode == 0
    servers = [word for one in command for word in ("--server", one)]
    done = h123("compare", *servers, "--url", "https://localhost:1/", "--out", "c")
    assert done.returncode == 2
    assert "c holds a campaign of another study" in done.stderr
    assert "Finding out" not in done.stderr


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize(
    "command",
    [
        ["run", "smoke", "--out", "/proc/x"],
        ["matrix", "--servers", "go", "--clients", "go", "--out", "/proc/x"],
        ["matrix", "--servers", "go", "--clients", "go", "--out", "file"],
        ["import", "file", "--schema", "h2load", "--out", "/proc/x"],
        ["compare", "--server", "true", "--url", "https://localhost/", "--save", "/proc/x"],
    ],
    ids=" ".join,
)
def test_every_command_says_what_to_do(h123: Tool, command: list[str]) -> None:
    done = h123(*command)
    assert done.returncode == 2
    assert "cannot be written to: No such file" in done.stderr or "file is a file" in done.stderr
    assert "-> name another" in done.stderr
