"""The ratios that are shown while a campaign runs."""

import pytest

from h123.analysis.statistics.signedrank import SignedRank
from h123.campaign.interim import estimated_ratio


@pytest.mark.parametrize("logs", [[0.3], [0.1, -0.4], [0.1, -0.4, 0.3, 0.9, 0.05]])
def test_a_ratio_so_far_is_estimated_as_in_the_answer(logs: list[float]) -> None:
    """A median of the blocks stood above an answer with other ratios."""
    assert estimated_ratio(logs) == pytest.approx(2.718281828459045 ** SignedRank(logs).estimate().centre)
