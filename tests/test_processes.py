"""h123.base.processes: the same work on many things by several processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.base.processes import each

MANY = 500


def whose(thing: int) -> tuple[int, int]:
    """The thing, and who worked on it."""
    return thing, os.getpid()


def refuse(thing: int) -> int:
    """Raises as a reader of a broken file does."""
    if thing == MANY - 1:
        raise UserError("the last one is broken", remedy="leave it out", status=3)
    return thing


@pytest.mark.parametrize("count", [0, 1, MANY])
def test_results_come_in_the_order_of_the_things(count: int) -> None:
    assert [thing for thing, _ in each(whose, range(count))] == list(range(count))


def test_few_things_are_worth_no_process() -> None:
    assert {worker for _, worker in each(whose, range(3))} == {os.getpid()}


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor: nothing to share out")
def test_many_things_are_shared_out() -> None:
    workers = {worker for _, worker in each(whose, range(MANY))}
    assert os.getpid() not in workers
    assert workers


def test_an_error_comes_with_all_that_it_says() -> None:
    with pytest.raises(UserError, match="the last one is broken") as raised:
        each(refuse, range(MANY))
    assert (raised.value.remedy, raised.value.status) == ("leave it out", 3)


ENDLESS = """
import os, time
from h123.base.processes import each
def wait(thing):
    os.write(1, b"begun\\n")  # in one piece, as print does not where PYTHONUNBUFFERED is set: several write here
    time.sleep(60)
each(wait, range(500))
"""


def test_no_worker_outlives_a_killed_process() -> None:
    source = str(Path(__file__).resolve().parents[1] / "src")
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source}
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        process.kill()
        # The pipe ends when the last one who could write into it has ended.
        assert process.communicate(timeout=30)[0].replace(b"begun\n", b"") == b""
