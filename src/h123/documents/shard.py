"""Defines a shard: some blocks of a campaign, which one machine runs on its own (docs/cluster.md).

`3/40` is every fortieth block, starting with the third, so a shard keeps its blocks if the number of blocks grows.
`blocks:5,9-12` lists the blocks.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from h123.base.errors import UserError

_NUMBER = "[1-9][0-9]{0,5}"
_RANGE = f"{_NUMBER}(-{_NUMBER})?"
PATTERN = f"^({_NUMBER}/{_NUMBER}|blocks:{_RANGE}(,{_RANGE})*)$"
_FORMS = "write a shard's number and how many there are, such as --shard 3/40, or blocks, such as --shard blocks:5,9-12"
_FEWEST = 3
"""The smallest number of consecutive blocks that are written as a range."""


@dataclass(frozen=True)
class Shard:
    """Some blocks of a campaign."""

    text: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse the value of `--shard`. Raises UserError."""
        words = text.replace(" ", "")
        if not re.match(PATTERN, words):
            raise UserError(f"--shard {text}: this is not a shard", remedy=_FORMS)
        if "/" in words:
            number, of = map(int, words.split("/"))
            if number > of:
                raise UserError(f"--shard {text}: shards are numbered from 1 to {of}", remedy=_FORMS)
            return cls(words)
        if backwards := [f"{first}-{last}" for first, last in _ranges(words) if last < first]:
            raise UserError(f"--shard {text}: {backwards[0]} has no blocks", remedy=_FORMS)
        return cls.of(number for first, last in _ranges(words) for number in range(first, last + 1))

    @classmethod
    def of(cls, blocks: Iterable[int]) -> Self:
        """Return the shard of these blocks."""
        return cls(f"blocks:{ranges(blocks)}")

    def blocks(self, planned: int) -> list[int]:
        """Return the shard's blocks in a campaign with `planned` blocks. Raises UserError if there are none, or if the
        shard names a block that does not exist."""
        if "/" in self.text:
            number, of = map(int, self.text.split("/"))
            if number > planned:
                raise UserError(
                    f"shard {self.text} has no blocks: the campaign has {planned}",
                    remedy=f"make at most {planned} shards, or more blocks (--blocks)",
                )
            return list(range(number, planned + 1, of))
        numbers = [number for first, last in _ranges(self.text) for number in range(first, min(last, planned + 1) + 1)]
        if numbers[-1] > planned:
            raise UserError(
                f"--shard {self.text} names block {numbers[-1]}: the campaign has {planned} blocks",
                remedy="name other blocks, or give the campaign more of them with --blocks",
            )
        return numbers


def _ranges(text: str) -> list[tuple[int, int]]:
    """Return the first and last block of each part of `blocks:5,9-12`."""
    parts = (part.partition("-") for part in text.removeprefix("blocks:").split(","))
    return [(int(first), int(last or first)) for first, _, last in parts]


def ranges(blocks: Iterable[int]) -> str:
    """Format the numbers of blocks: `5,9-12`."""
    runs = list[list[int]]()
    for number in sorted(set(blocks)):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [[f"{run[0]}-{run[-1]}"] if len(run) >= _FEWEST else list(map(str, run)) for run in runs]
    return ",".join(word for part in words for word in part)
