"""Figures of a discipline whose random numbers differ from run to run, and whether the link's agree with Linux's."""

from collections.abc import Sequence
from dataclasses import dataclass

QUANTILES = (0.5, 0.9, 0.99)
TOLERANCE = 0.01
"""The share by which the means may differ. They may also differ by as much as two of the kernel's runs do."""


@dataclass(frozen=True)
class Figure:
    """What the kernel's runs and the link's runs gave for one thing."""

    kernel: Sequence[float]
    link: Sequence[float]

    @property
    def agrees(self) -> bool:
        spread = max(self.kernel) - min(self.kernel)
        return abs(_mean(self.kernel) - _mean(self.link)) <= max(TOLERANCE * _mean(self.kernel), spread)

    def __str__(self) -> str:
        text = f"{_mean(self.kernel):.4g} ± {(max(self.kernel) - min(self.kernel)) / 2:.2g}, {_mean(self.link):.4g}"
        return text if self.agrees else f"**{text}**"


def figures(
    delays: Sequence[float | None], marked: Sequence[bool], quantiles: Sequence[float] = QUANTILES
) -> list[float]:
    """Return the percentages of packets dropped (without delay) and marked, and quantiles of the delay."""
    waited = sorted(delay for delay in delays if delay is not None)
    shares = [100 * (len(delays) - len(waited)) / len(delays), 100 * sum(marked) / len(delays)]
    return [*shares, *(waited[int(quantile * len(waited))] for quantile in quantiles)]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
