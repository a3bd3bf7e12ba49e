"""The processors of client and server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.errors import UserError
from h123.execution.cpu_affinity import check_affinity, require_processors, seats
from h123.study import Parameters


def parameters(**values: str) -> Parameters:
    return Parameters.model_validate({"protocol": "h2", "server": "go", "client": "go", "network": "lan", **values})


@given(st.sets(st.integers(0, 1023), min_size=2).map(sorted))
def test_apart_nobody_shares_a_processor_and_none_is_left_over(usable: list[int]) -> None:
    apart = parameters(affinity="apart")
    client, server, backend = (seats(apart, host, usable) for host in ("client", "server", "backend"))
    assert server == backend
    assert sorted(client + server) == usable
    assert 0 <= len(server) - len(client) <= 1
    assert client


def test_shared_programs_run_anywhere() -> None:
    assert seats(parameters(), "client", [0, 1]) == []


def test_one_processor_cannot_be_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("h123.execution.cpu_affinity.usable_processors", lambda: [3])
    require_processors([parameters()])
    with pytest.raises(UserError, match="needs at least two processors"):
        require_processors([parameters(), parameters(affinity="apart")])


def test_under_the_virtual_clock_there_is_nothing_to_divide() -> None:
    with pytest.raises(UserError, match="under the virtual clock there is one"):
        check_affinity(parameters(affinity="apart", clock="virtual"))
