"""Prints the output after a shard has run. A shard is not analysed, because its blocks are only a part of the
campaign."""

from typing import TYPE_CHECKING

from h123.base.terminal.console import out_console, say

if TYPE_CHECKING:
    from h123.store import CampaignFolder


def conclude_shard(folder: "CampaignFolder") -> int:
    from h123.documents.shard import ranges

    assert folder.shard  # the caller has checked
    numbers = folder.shard.blocks(folder.blocks)
    named = f"block{'s' * (len(numbers) > 1)} {ranges(numbers)} of {folder.blocks}"
    out_console.print(f"Shard {folder.shard.text}: {named}, in {folder.path}", soft_wrap=True)
    say("When all shards have run: h123 join SHARDS... --out campaign")
    return 0
