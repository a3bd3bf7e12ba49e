"""A slice of what `tools/strange` tries: special files in every place, and strange texts in every name."""

import pytest

from cli.test_fuzz import run_with_a_seed


@pytest.mark.parametrize("cases", [20, pytest.param(150, marks=pytest.mark.heavy)])
def test_strange_files_and_texts_harm_nothing(cases: int) -> None:
    run_with_a_seed("strange", "--cases", str(cases))
