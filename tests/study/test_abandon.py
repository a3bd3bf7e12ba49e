"""Which requests are abandoned: as many as the share says, the same for the same seed, told to the client by number."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.study.workload import KINDS, Abandon, Target, workload_of

TARGET = Target("h123.test", "10.1.0.2", 4443, "/ca.pem", 7)
MS = 10**6


def _work(**values: Any) -> Any:
    return workload_of({"protocol": "h1", "abandon": {"share": 0.25, "after": 200 * MS}, **values})


@given(st.floats(0.001, 0.999), st.integers(0, 2**53), st.integers(2, 5000))
def test_a_choice_is_a_function_of_its_seed(share: float, seed: int, requests: int) -> None:
    one = Abandon(share=share, after="1s")
    chosen = one.places(seed, requests)
    assert chosen == sorted(set(chosen)) == one.places(seed, requests)
    assert len(chosen) == one.count(requests) == max(1, round(share * requests))
    assert set(chosen) <= set(range(requests))


def test_the_choice_never_changes_between_versions() -> None:
    assert Abandon(share=0.2, after="1s").places(7, 30) == GOLDEN


GOLDEN = [0, 8, 17, 22, 25, 29]


@given(st.integers(1, 9), st.integers(2, 9), st.integers(0, 5))
def test_a_client_is_told_numbers_of_warm_requests(users: int, requests: int, warmup: int) -> None:
    work = _work(users=users, requests=requests, warmup=warmup)
    document = work.file(TARGET).model_dump(exclude_unset=True)
    numbers, rows = document["abandoned"], work.rows()
    assert document["abandon_ns"] == 200 * MS
    assert numbers == sorted(set(numbers))
    assert all(number % (requests + warmup) >= warmup for number in numbers)
    assert (len(numbers), rows["warm"]) == (rows["leaving"], users * requests - len(numbers))
    assert work.connections_again() == len(numbers)


def test_over_other_protocols_a_connection_goes_on() -> None:
    assert [_work(protocol=protocol).connections_again() for protocol in ("h2", "h3")] == [0, 0]


def test_nothing_is_told_where_nothing_is_abandoned() -> None:
    work = workload_of({"protocol": "h2"})
    assert not {"abandon_ns", "abandoned"} & {*work.file(TARGET).model_dump(exclude_unset=True)}
    assert (work.abandons, work.connections_again()) == (False, 0)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"users": 1, "requests": 1}, "all of the 1 requests would be abandoned"),
        ({"users": 1000, "requests": 5000}, "use fewer requests"),
        ({"timeout": 200 * MS}, "time out before"),
        ({"kind": "page", **KINDS["page"].example(["GET"], False)}, "always complete"),
    ],
)
def test_what_makes_no_workload_is_said(values: dict[str, Any], said: str) -> None:
    assert said in (_work(**values).fault() or "")
    assert _work(users=2, requests=2).fault() is None
