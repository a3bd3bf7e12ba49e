"""Programs that people have, configured as people do, are answered by one command, and as the same stack is as a
subject of the catalogue."""

import pytest

from cli.conftest import Tool
from cli.own_programs import PROGRAMS, asked_once, beside, lacking, latencies, lay_out

FEW = ("--load", "2x10", "--max-blocks", "8")


@pytest.mark.heavy
@pytest.mark.usefixtures("leaves_nothing_behind")
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_answered_as_its_stack_is(h123: Tool, name: str) -> None:
    if missing := lacking(PROGRAMS[name]):
        pytest.skip(f"{name} needs {', '.join(missing)}")
    folder = h123.folder / name
    folder.mkdir()
    lay_out(name, folder)
    done = asked_once(name, folder, h123, "cellular", "virtual", FEW)
    assert done.returncode == 0, done.stderr
    done = beside(name, folder, h123)
    assert done.returncode == 0, done.stderr
    own, subject = latencies(folder / "own"), latencies(folder / "subject")
    assert own.keys() == subject.keys()
    assert [place for place, mine in own.items() if mine.contradicts(subject[place])] == []
