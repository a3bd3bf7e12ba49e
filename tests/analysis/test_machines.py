"""Machines of one campaign: how much they differ, which are named and left out, and what the answer is then."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis.machine_campaigns import ODD, Machines, analysed
from h123.analysis import analyse
from h123.analysis.machines.rule import Measurement, departures, left_out
from h123.analysis.machines.variance import spread
from h123.analysis.machines.without_one import without_one
from h123.analysis.statistics.signedrank import SignedRank
from h123.report.text.trust.machines import machine_lines
from synthetic import FAMILIES, NETWORKS, Scenario, make_campaign

FOUR = ("amsterdam", "berlin", "cairo", "delhi")
MEDIUM = {"medium": NETWORKS["medium"]}
ALIKE = Scenario(
    blocks=16,
    machines=FOUR,
    networks=MEDIUM,
    protocols=("h2", "h3"),
    families=FAMILIES[:1],
    effects={("medium", "h3"): 1.2},
    seed=3,
)


def verdicts_of(path: Path, **changes: Any) -> Any:
    return analyse(make_campaign(path, Scenario(**{**vars(ALIKE), **changes})))


def test_of_alike_machines_none_is_named_and_the_answer_is_as_of_one(tmp_path: Path) -> None:
    several, one = verdicts_of(tmp_path / "a"), verdicts_of(tmp_path / "b", machines=())
    row = several["machines"]
    assert (row["machines"], row["left_out"], row["differences"]) == (4, [], [])
    assert "machines" not in one
    [answer, _], [alone, _] = several["comparisons"], one["comparisons"]
    assert answer["verdict"] == alone["verdict"] == "slower"
    assert answer["ratio"] == alone["ratio"]
    assert answer["blocks"] == 16
    assert answer["low"] <= alone["low"]
    assert answer["high"] >= alone["high"]
    assert answer["p"] >= alone["p"]


def test_a_slow_machine_whose_ratios_hold_is_named_and_counts(tmp_path: Path) -> None:
    found = verdicts_of(tmp_path / "c", slowness={("cairo", "h2"): 1.8, ("cairo", "h3"): 1.8}, block_noise=0.05)
    [difference] = found["machines"]["differences"]
    assert (difference["machine"], difference["by"], difference["left_out"]) == ("cairo", "level", False)
    assert found["comparisons"][0]["blocks"] == 16
    assert any("cairo is slow" in line and "Its ratios count" in line for line in machine_lines(found))


def test_a_machine_with_other_ratios_is_left_out_and_the_answer_is_that_of_the_others(tmp_path: Path) -> None:
    found = verdicts_of(tmp_path / "c", slowness={("cairo", "h3"): 1.5})
    assert found["machines"]["left_out"] == ["cairo"]
    difference = found["machines"]["differences"][0]
    assert (difference["machine"], difference["by"], difference["left_out"]) == ("cairo", "ratio", True)
    [answer, _] = found["comparisons"]
    assert (answer["verdict"], answer["blocks"]) == ("slower", 12)
    assert {pair["block"] for pair in answer["pairs"]} == {b for b in range(1, 17) if b % 4 != 3}
    assert answer["high"] < 1.35
    assert found["trials"]["missing"] == 0
    assert len(found["places"]) == 4
    assert any("cairo is left out" in line for line in machine_lines(found))


def test_machines_cannot_differ_under_the_virtual_clock(tmp_path: Path) -> None:
    found = verdicts_of(tmp_path / "c", settings={"clock": "virtual"}, slowness={("cairo", "h3"): 1.5})
    assert "machines" not in found
    assert found["comparisons"][0]["blocks"] == 16


def test_of_two_machines_that_differ_none_is_left_out(tmp_path: Path) -> None:
    found = verdicts_of(tmp_path / "c", machines=FOUR[:2], slowness={("berlin", "h3"): 1.5})
    assert found["machines"]["left_out"] == []
    assert found["comparisons"][0]["blocks"] == 16
    assert any("too few machines are left to say" in line for line in machine_lines(found))


def test_no_answer_rests_on_one_machine(tmp_path: Path) -> None:
    """A machine that is off by less than the rule can be sure of."""
    nothing: dict[str, Any] = {"effects": {}, "trial_noise": 0.1, "seed": 5}
    found = verdicts_of(tmp_path / "c", slowness={("cairo", "h3"): 1.35}, **nothing)
    [answer, _] = found["comparisons"]
    assert found["machines"]["left_out"] == []
    assert answer["verdict"] == "inconclusive"
    ratios = {pair["block"]: math.log(pair["ratio"]) for pair in answer["pairs"]}
    assert SignedRank(list(ratios.values())).p() < 0.05 < answer["p"]
    assert "no answer rests on one machine" in answer["note"]


def test_each_machine_begins_with_an_a_a_pair_and_one_whose_pairs_differ_is_left_out() -> None:
    random = np.random.default_rng(1)
    groups = {name: list(random.normal(0.3 if name == "berlin" else 0, 0.02, 4)) for name in FOUR}
    [found] = departures([Measurement("twin", groups, zero=True)], FOUR, math.log(1.05))
    assert found.machine == "berlin"
    assert found.difference == pytest.approx(0.3, abs=0.05)
    assert left_out(["berlin"], dict.fromkeys(FOUR, 4)) == ["berlin"]


def test_the_majority_stays() -> None:
    assert left_out(["a", "b"], dict.fromkeys("abcd", 5)) == ["a"]
    assert left_out(["a", "b"], dict.fromkeys("abcde", 5)) == ["a", "b"]
    assert left_out(["a"], {"a": 10, "b": 5, "c": 5}) == []  # it has half of the blocks
    assert left_out(["a"], {"a": 5, "b": 5}) == []


def test_variance_between_machines_is_what_was_put_in() -> None:
    random = np.random.default_rng(2)
    estimates = []
    for _ in range(300):
        groups = {str(k): list(random.normal(random.normal(0, 0.05), 0.1, 3 + k % 5)) for k in range(12)}
        found = spread(groups)
        assert found
        estimates.append((found.between**2, found.within**2))
    between, within = np.mean(estimates, axis=0) ** 0.5
    assert between == pytest.approx(0.05, rel=0.1)
    assert within == pytest.approx(0.1, rel=0.05)


def test_variance_by_hand() -> None:
    found = spread({"a": [1.0, 3.0], "b": [9.0, 7.0, 8.0]})
    assert found
    within = (1 + 1 + 1 + 1 + 0) / 3
    between = 2 * (2 - 5.6) ** 2 + 3 * (8 - 5.6) ** 2
    assert found.within == pytest.approx(within**0.5)
    assert found.between == pytest.approx(((between - within) / 2.4) ** 0.5)
    assert spread({"a": [1.0], "b": [2.0]}) is None
    assert spread({"a": [1.0, 2.0]}) is None


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=20), st.integers(1, 5), st.floats(-10, 10))
def test_one_machine_alone_changes_no_answer(differences: list[float], machines: int, wrong: float) -> None:
    """Whatever one of the machines measures, p is no smaller than without it."""
    homes = {block: f"m{block % machines}" for block in range(len(differences))}
    values = {b: wrong if homes[b] == "m0" else d for b, d in enumerate(differences)}
    test = without_one(SignedRank, values, homes)
    rest = [d for b, d in values.items() if homes[b] != "m0"]
    if machines < 3:
        assert test.p() == SignedRank(list(values.values())).p()
    else:
        assert test.p() >= SignedRank(rest).p()
        estimate, theirs = test.estimate(0.95), SignedRank(rest).estimate(0.95)
        assert estimate.low <= theirs.low
        assert theirs.high <= estimate.high


CAMPAIGNS = 100


@pytest.mark.parametrize(
    ("truth", "slow", "out"),
    [
        (Machines(), False, False),
        (Machines(slow=1.5), True, False),
        (Machines(slow=1.5, off=1.1), True, None),
        (Machines(slow=1.5, off=1.5), True, True),
    ],
)
def test_of_many_campaigns_few_err(truth: Machines, *, slow: bool, out: bool | None) -> None:
    """`slow`: the odd machine is named. `out`: it is left out; None: now and then."""
    random = np.random.default_rng(11)
    found = [analysed(truth, random) for _ in range(CAMPAIGNS)]
    assert binomtest(sum(one.different for one in found), CAMPAIGNS, 0.05, alternative="greater").pvalue > 0.001
    strangers = sum(bool(one.named("ratio", "twin") - ({ODD} if truth.off > 1 else set())) for one in found)
    assert binomtest(strangers, CAMPAIGNS, 0.01, alternative="greater").pvalue > 0.001
    assert (sum(ODD in one.named("level") | one.left_out for one in found) >= 95) is slow
    if out is not None:
        assert sum(ODD in one.left_out for one in found) in (range(95, 101) if out else range(5))
    assert sum(analysed(truth, random, ratio=1.1).verdict == "slower" for _ in range(CAMPAIGNS)) >= 95


def test_the_verdicts_of_the_other_three_stand() -> None:
    truth = Machines(slow=1.5, off=1.5)
    found = [analysed(truth, np.random.default_rng(seed), ratio) for seed in range(20) for ratio in (1.0, 1.2)]
    assert {one.blocks for one in found} == {18}
    assert {one.verdict for one in found[1::2]} == {"slower"}
    assert sum(one.different for one in found[::2]) <= 4
