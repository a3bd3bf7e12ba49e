"""The rule by which queues with random numbers of their own agree with Linux's (bench/queue_accuracy)."""

import sys
from typing import Any

import numpy as np
import pytest

from h123.base.paths import project_root

FIGURES, KERNEL_RUNS, REPETITIONS = 20, 6, 30


@pytest.fixture
def rule(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(project_root() / "bench/queue_accuracy"), *sys.path])
    import own_draws

    return own_draws


def _compared(rule: Any, rng: np.random.Generator, shift: float = 0.0) -> list[Any]:
    """Return figures that vary by 5 % from run to run. Those of the link differ by this share in the last one."""
    shifts = [0.0] * (FIGURES - 1) + [shift]
    return [
        rule.Figure(
            f"figure {number}",
            tuple(rng.normal(10, 0.5, KERNEL_RUNS)),
            tuple(rng.normal(10 * (1 + shift), 0.5, KERNEL_RUNS * rule.LINK_RUNS)),
        )
        for number, shift in enumerate(shifts)
    ]


def test_equal_distributions_seldom_differ(rule: Any) -> None:
    rng = np.random.default_rng(5)
    wrong = sum(bool(rule.differing(_compared(rule, rng))) for _ in range(REPETITIONS))
    assert wrong <= 5  # 1.5 expected; the probability of 6 or more is 0.4 %


def test_a_shift_is_found(rule: Any) -> None:
    differ = rule.differing(_compared(rule, np.random.default_rng(5), 0.3))
    assert [figure.name for figure in differ] == ["figure 19"]


def test_small_and_absent_differences_do_not_count(rule: Any) -> None:
    constant = rule.Figure("marked %", (0.0,) * 6, (0.0,) * 30)
    near = rule.Figure("p50", tuple(100 + i / 100 for i in range(6)), tuple(100.5 + i / 100 for i in range(30)))
    assert near.p < 1e-5
    assert rule.differing([constant, near]) == []
    assert rule.summary([constant, near]).startswith("0 of 2 figures differ; the means of 2 are within 1 %")
