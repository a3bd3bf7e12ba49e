"""A campaign does not contradict itself: what terminal, report and verdicts.json say is read back and compared.

More seeds than these: `PYTHONPATH=src:tests python -m statements 40 400`.
"""

from pathlib import Path

import pytest

from statements import disagreements

LIGHT, ALL = 6, 40


@pytest.mark.parametrize(
    "seed", [seed if seed < LIGHT else pytest.param(seed, marks=pytest.mark.heavy) for seed in range(ALL)]
)
def test_no_two_statements_contradict_each_other(seed: int, tmp_path: Path) -> None:
    assert disagreements(seed, tmp_path / "c") == []
