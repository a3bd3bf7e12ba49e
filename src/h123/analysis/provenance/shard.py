"""Reports that a folder is a shard, which contains only some of a campaign's blocks. No answer should depend on a shard
alone."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from h123.analysis.case import Case
from h123.analysis.section import Section


class ShardRow(TypedDict):
    """The shard's name and blocks, and the number of planned blocks."""

    name: str
    """The shard's name, as given to `--shard`, such as `3/40`."""
    blocks: Sequence[int]
    planned: int


class ShardPart(TypedDict):
    shard: NotRequired[ShardRow]
    """The shard. Absent if the folder contains all blocks."""


def _compute(case: Case) -> ShardPart:
    shard, planned = case.facts.shard, len(case.plan.blocks)
    return {"shard": {"name": shard.text, "blocks": shard.blocks(planned), "planned": planned}} if shard else {}


SECTION = Section(ShardPart, _compute)
