"""The blocks that a rule says are needed are enough, at the look that they bring."""

from hypothesis import given
from hypothesis import strategies as st

from h123.analysis.statistics.families import smallest_adjusted
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.rule import Rule

CORRECTIONS = st.sampled_from(["holm", "bh"])


@given(st.integers(1, 200), CORRECTIONS, st.lists(st.integers(1, 40), min_size=1, max_size=4, unique=True).map(sorted))
def test_who_runs_the_blocks_that_are_needed_can_get_a_verdict(size: int, correction: str, looks: list[int]) -> None:
    """One look more, if they are more than were planned; then one block less would not have done."""
    rule = Rule(0.05, 0.05, Looks(looks))
    needed = rule.blocks_needed(size, correction)
    if needed <= looks[-1]:
        assert smallest_adjusted(needed, size, correction) <= rule.level
        return
    then = Rule(0.05, 0.05, Looks([*looks, needed]))
    assert smallest_adjusted(needed, size, correction) <= then.level
    assert smallest_adjusted(needed - 1, size, correction) > then.level or needed == 2
