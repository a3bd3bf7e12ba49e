"""States the facts that a reader of a single shard must know first."""

from h123.analysis.provenance.shard import ShardPart
from h123.documents.shard import ranges


def shard_lines(verdicts: ShardPart) -> list[str]:
    """Return the note about a shard. Empty if the folder is not a shard."""
    if not (row := verdicts.get("shard")):
        return []
    named = f"block{'s' * (len(row['blocks']) > 1)} {ranges(row['blocks']).replace(',', ', ')} of {row['planned']}"
    return [
        f"This is shard {row['name']} of a campaign ({named}), and not the campaign: what it says is interim. `h123 "
        "join` puts all shards together. Each look at a shard of 6 blocks or more makes the campaign's verdicts "
        "stricter"
    ]
