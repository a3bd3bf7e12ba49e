"""Defines tracks: one direction of a recording, before its conversion into a record."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean

Values = list[float | None]

UNITS = {"rate": ("rate_mbit_s", 1e6), "delay": ("delay_ms", 1e-3), "loss": ("loss_percent", 1e-2)}
"""The column of a record for each kind of value, and the column's unit in bit/s, s or fractions."""


@dataclass
class Track:
    """The rows of one direction: times in s, rates in bit/s, one-way delays in s, and fractions of lost packets. A
    value is None if the recording does not contain it."""

    times: list[float] = field(default_factory=list)
    values: dict[str, Values] = field(default_factory=dict)
    trace: list[int] | None = None
    """The lines of a Mahimahi trace, instead of rows."""

    def known(self) -> "Track":
        some = {name: values for name, values in self.values.items() if any(value is not None for value in values)}
        return Track(self.times, some, self.trace)

    def record(self, step: float) -> str:
        """Return the text of the record, with at most one row in each `step` seconds."""
        if self.trace is not None:
            return "".join(f"{time}\n" for time in self.trace)
        rows = self._rows(step)
        columns = {name: _filled([row[1][name] for row in rows]) for name in self.values}
        names = ["time_s", *(UNITS[name][0] for name in columns)]
        lines = [",".join(names)]
        for place, (time, _) in enumerate(rows):
            cells = [time, *(columns[name][place] / UNITS[name][1] for name in columns)]
            lines.append(",".join(f"{cell:.6g}" for cell in cells))
        return "\n".join(lines) + "\n"

    def _rows(self, step: float) -> list[tuple[float, dict[str, float | None]]]:
        """Return a row with the averages of each step that contains values. During steps without values, the last
        values before them apply."""
        rows = []
        numbers = [int((time - self.times[0]) / step + 1e-6) for time in self.times]
        for number, group in groupby(range(len(numbers)), numbers.__getitem__):
            places = list(group)
            last, after = [place for place in places if self.times[place] == self.times[places[-1]]], places[-1] + 1
            rows.append((number * step, self._means(places)))
            if len(last) < len(places) and after < len(numbers) and numbers[after] > number + 1:
                rows.append(((number + 1) * step, self._means(last)))
        return rows

    def _means(self, places: Sequence[int]) -> dict[str, float | None]:
        return {name: _mean([values[place] for place in places]) for name, values in self.values.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _filled(values: Values) -> list[float]:
    """Return the values, with each missing value replaced by the last known value before it, or else the first known
    value."""
    last = next(value for value in values if value is not None)
    filled = []
    for value in values:
        last = last if value is None else value
        filled.append(last)
    return filled
