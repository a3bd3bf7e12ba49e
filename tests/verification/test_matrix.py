"""The matrix: who with whom, what is kept, what is done again; on an engine without namespaces or time."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from campaign.scripted import ScriptedEngine
from catalogue.small import MANIFEST, write_small
from h123.base.errors import UserError
from h123.catalogue import Subject, read_subject
from h123.execution import LocalPool
from h123.progress.display import Standing
from h123.verification.matrix import (
    Cell,
    MatrixFolder,
    MethodResult,
    Pairing,
    failures,
    known_cells,
    pairings,
    run_matrix,
)

CLIENT = """\
[client]
command = ["{prefix}/serve", "{workload}", "{samples}", "{facts}"]
protocols = PROTOCOLS
methods = ["GET"]
cold = false

"""


class Watch:
    """A display that remembers."""

    def __init__(self) -> None:
        self.left: list[float] = []
        self.ended: list[str] = []

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def show(self, standing: Standing) -> None:
        self.left.append(standing.left_s)

    def end(self, event: dict[str, Any], standing: Standing) -> None:
        self.ended.append(f"{standing.done}/{standing.total} {event['trial']}")


class Interrupted(ScriptedEngine):
    """Ctrl-C comes during the trial with this number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def wait(self) -> Path:
        if len(self.ran) == self._number:
            raise KeyboardInterrupt
        return super().wait()


pytestmark = pytest.mark.usefixtures("cache")


def _subjects(folder: Path) -> dict[str, Subject]:
    """Servers of h1, h2 and h3 and clients of h1 and h2, or of h2 alone; both without POST."""
    found = {}
    head, tail = MANIFEST[: MANIFEST.index("[client]")], MANIFEST[MANIFEST.index("[features]") :]
    for name, protocols in (("small", '["h1", "h2"]'), ("tiny", '["h2"]')):
        client = CLIENT.replace("PROTOCOLS", protocols)
        manifest = f"{head}{client}{tail}".replace('"small"', f'"{name}"')
        found[name] = read_subject(write_small(folder, manifest, name=name))
    return found


ALL = pairings(["small"], ["small", "tiny"], ["h1", "h2", "h3"])


def _run(tmp_path: Path, engine: ScriptedEngine, watch: Watch | None = None) -> dict[Pairing, Cell]:
    subjects = _subjects(tmp_path / "subjects")
    folder = MatrixFolder(tmp_path / "m", subjects)
    run_matrix(ALL, subjects, folder, LocalPool(engine=engine), watch or Watch())
    cells = known_cells(ALL, subjects, folder)
    assert list(cells) == ALL
    return {pairing: cell for pairing, cell in cells.items() if cell}


def test_what_both_sides_have_is_tried_and_the_rest_is_unsupported(tmp_path: Path) -> None:
    engine, watch = ScriptedEngine(), Watch()
    cells = _run(tmp_path, engine, watch)
    assert {pairing.name: cell.outcome for pairing, cell in cells.items()} == {
        "small-small-h1": "pass",
        "small-small-h2": "pass",
        "small-small-h3": "unsupported",
        "small-tiny-h1": "unsupported",
        "small-tiny-h2": "pass",
        "small-tiny-h3": "unsupported",
    }
    assert [name for name, _ in engine.ran] == ["small-small-h1-get", "small-small-h2-get", "small-tiny-h2-get"]
    assert cells[ALL[0]].results["POST"] == MethodResult("unsupported", "small does not support POST")
    assert cells[ALL[3]].results["GET"] == MethodResult("unsupported", "tiny does not support h1")
    assert watch.ended[-1] == "3/3 small-tiny-h2"
    assert watch.left[0] == 6.0
    assert not list((tmp_path / "m/trials").glob("*"))


def test_a_failure_is_kept_with_its_reason_and_logs(tmp_path: Path) -> None:
    class Printing(ScriptedEngine):
        def start(self, folder: Path, roots: Mapping[str, Path]) -> None:
            super().start(folder, roots)
            (folder / "logs").mkdir()
            (folder / "logs/server.log").write_text("".join(f"line {n}\n" for n in range(100)))

    failing = "small-small-h2-get"
    exited = {"code": "server-exited", "detail": "status 1"}
    cells = _run(tmp_path, Printing(lambda trial, _: [exited] if trial["id"] == failing else []))
    [(pairing, method, result)] = failures(cells)
    assert (pairing.name, method, result.outcome) == ("small-small-h2", "GET", "fail")
    assert result.reason == "server-exited: status 1"
    assert result.logs["server"].splitlines()[::39] == ["line 60", "line 99"]
    assert (tmp_path / "m/trials/small-small-h2-get/trial.json").is_file()


def test_a_request_that_failed_is_a_failure_though_the_trial_is_valid(tmp_path: Path) -> None:
    class Refusing(ScriptedEngine):
        def wait(self) -> Path:
            folder = super().wait()
            path = folder / "samples.csv"
            path.write_text(path.read_text().replace(",200,0,100000,", ",503,0,100000,", 1))
            return folder

    cells = _run(tmp_path, Refusing())
    assert cells[ALL[0]].results["GET"].reason == "a request ended with status 503, error ''"


def test_exit_127_of_what_is_declared_is_a_failure(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda *_: [{"code": "unsupported", "detail": "the client exited with status 127"}])
    cells = _run(tmp_path, engine)
    assert cells[ALL[0]].results["GET"].outcome == "fail"
    assert cells[ALL[0]].results["GET"].reason == "unsupported: the client exited with status 127"


def test_what_failed_is_tried_again(tmp_path: Path) -> None:
    bad = "small-small-h2-get"
    _run(tmp_path, ScriptedEngine(lambda trial, _: [{"code": "server-exited", "detail": ""}] * (trial["id"] == bad)))
    engine = ScriptedEngine()
    assert _run(tmp_path, engine)[Pairing("small", "small", "h2")].outcome == "pass"
    assert [name for name, _ in engine.ran] == [bad]


def test_two_processes_do_not_run_the_same_matrix(tmp_path: Path) -> None:
    subjects = _subjects(tmp_path / "subjects")
    folder = MatrixFolder(tmp_path / "m", subjects)
    with folder.alone(), pytest.raises(UserError, match="another h123 is running the matrix in"):
        run_matrix(ALL, subjects, folder, ScriptedEngine(), Watch())


def test_stopped_and_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _run(tmp_path, Interrupted(2))
    engine, watch = ScriptedEngine(), Watch()
    assert len(_run(tmp_path, engine, watch)) == 6
    assert [name for name, _ in engine.ran] == ["small-small-h2-get", "small-tiny-h2-get"]
    assert watch.ended[0] == "2/3 small-small-h2"
    last = ScriptedEngine()
    assert len(_run(tmp_path, last)) == 6
    assert not last.ran


def test_a_subject_that_changed_is_tried_again(tmp_path: Path) -> None:
    _run(tmp_path, ScriptedEngine())
    subjects = _subjects(tmp_path / "subjects")
    (tmp_path / "subjects/tiny/build.sh").write_text("# mended\n")
    folder, engine = MatrixFolder(tmp_path / "m", subjects), ScriptedEngine()
    assert [pairing.name for pairing, cell in known_cells(ALL, subjects, folder).items() if cell is None] == [
        "small-tiny-h2"
    ]
    run_matrix(ALL, subjects, folder, LocalPool(engine=engine), Watch())
    assert [name for name, _ in engine.ran] == ["small-tiny-h2-get"]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/letter").write_text("dear")
    with pytest.raises(UserError, match="does not contain a matrix"):
        MatrixFolder(tmp_path / "m", {})
    (tmp_path / "m/journal.jsonl").write_text(json.dumps({"event": "campaign"}) + "\n")
    with pytest.raises(UserError, match="not of the format matrix/1"):
        MatrixFolder(tmp_path / "m", {})
