"""A factor that changes two parameters at once cannot tell which of them it was, and the plan says so."""

from hypothesis import given
from hypothesis import strategies as st

from h123.study import find_study, load_study, make_plan, together


def test_the_plan_of_the_published_loads_says_that_users_and_requests_change_together() -> None:
    study = load_study(find_study("rest-api"))
    (note,) = make_plan(study).notes
    assert note.startswith(
        "levels of load change requests and users together: which of them makes a difference cannot be known"
    )
    assert make_plan(study, level_filter={"load": ["high"]}).notes == []
    loads = {"low": {"users": 5, "requests": 20}, "high": {"users": 20, "requests": 20}}
    right = study.model_copy(update={"factors": {**study.factors, "load": loads}})
    assert make_plan(right).notes == []


def test_what_can_be_told_apart_by_some_levels_is_not_flagged() -> None:
    columns = {"users": [5, 20, 20], "requests": [20, 20, 25], "size": [1, 1, 1]}
    assert list(together(columns)) == []
    assert list(together({**columns, "rate": ["a", "b", "b"]})) == [["users", "rate"]]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))
def test_two_columns_go_together_where_either_tells_the_other(rows: list[tuple[int, int]]) -> None:
    one, other = zip(*rows, strict=True)
    alike = len(set(one)) == len(set(other)) == len(set(rows)) > 1
    assert bool(list(together({"one": one, "other": other}))) == alike
