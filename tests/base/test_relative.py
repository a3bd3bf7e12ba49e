"""Relative sizes are written by one rule, and what is written is as large as what was measured."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.relative import factor, in_percent, percentage, signed, signed_with_interval, span

RATIOS = st.floats(1e-6, 1e6, allow_nan=False)


def read_back(text: str) -> float:
    """The ratio that the text stands for."""
    number = float(re.sub("[^0-9.]", "", text))
    if text.startswith("×"):
        return number
    return 1 - number / 100 if text.startswith("−") else 1 + number / 100


@given(RATIOS)
def test_what_is_written_is_what_was_measured(ratio: float) -> None:
    written = read_back(signed(ratio))
    assert written == pytest.approx(ratio, rel=0.06) or abs(written - 1) == pytest.approx(abs(ratio - 1), rel=0.1)
    assert (written > 1) == (ratio > 1) or ratio == 1 or abs(ratio - 1) < 1e-9
    assert signed(ratio).startswith("×") is not in_percent(ratio)


@given(RATIOS, RATIOS)
def test_a_larger_ratio_is_never_written_as_a_smaller_one(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert read_back(signed(low)) <= read_back(signed(high)) + 1e-12 or in_percent(low) is not in_percent(high)


@given(RATIOS)
def test_a_ratio_and_its_inverse_are_written_alike(ratio: float) -> None:
    assert in_percent(ratio) is in_percent(1 / ratio) or min(abs(ratio - 2), abs(ratio - 0.5)) < 1e-9


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        *[(0.77, "−23 %"), (1.073, "+7.3 %"), (2.0, "+100 %"), (0.5, "−50 %"), (1.0, "0 %"), (0.9996, "−0.04 %")],
        *[(2.67, "×2.7"), (0.08, "×0.08"), (12.3, "×12"), (10_000, "×10,000")],
    ],
)
def test_signed(ratio: float, text: str) -> None:
    assert signed(ratio).replace("\u00a0", " ") == text


def test_parts() -> None:
    assert signed_with_interval(1.073, 1.061, None).replace("\u00a0", " ") == "+7.3 % (+6.1 % to without bound)"
    assert signed_with_interval(2.67, 1.79, 3.31) == "×2.7 (×1.8 to ×3.3)"
    assert (span("4", "4"), span("12", "32")) == ("4", "12\u00a0to\u00a032")
    assert (percentage(0.9999), factor(1.0)) == ("99.99", "1")
