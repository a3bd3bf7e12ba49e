"""Measured values read as people write them, at any size."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from h123.base.units import figures, format_bytes, format_rate, format_seconds, format_value

SIZES = st.floats(1e-6, 1e17)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (format_bytes(2.74e12), "2.74 TB"),
        (format_bytes(2.74e15), "2740 TB"),
        (format_bytes(999_700), "1 MB"),
        (format_bytes(0), "0 B"),
        (format_seconds(0.9997), "1 s"),
        (format_seconds(0.9994), "999 ms"),
        (format_seconds(2740), "2740 s"),
        (format_seconds(2e-12), "0.000002 µs"),
        (format_seconds(-0.0713), "-71.3 ms"),
        (format_rate(9.996e11), "1 Tbit/s"),
        (format_value(27_400, "packets"), "27400 packets"),
        (format_value(2_740_000, "/s"), "2740 k/s"),
        (figures(120.4, 2), "120"),
        (figures(99.6, 2), "100"),
        (figures(1_500_000, 6), "1500000"),
        (figures(0.0000123), "0.0000123"),
        (figures(math.inf), "inf"),
    ],
)
def test_as_people_write_it(said: str, expected: str) -> None:
    assert said == expected


@given(SIZES, st.integers(1, 6))
def test_no_number_has_an_exponent(value: float, digits: int) -> None:
    said = figures(value, digits)
    assert "e" not in said
    assert math.isclose(float(said), value, rel_tol=0.51 * 10 ** (1 - digits))


@given(SIZES)
def test_the_unit_is_the_largest_that_fits(value: float) -> None:
    number, unit = format_bytes(value).split()
    assert "e" not in number
    assert float(number) < 1000 or unit == "TB"
    factor = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}[unit]
    assert math.isclose(float(number) * factor, value, rel_tol=0.0051)
