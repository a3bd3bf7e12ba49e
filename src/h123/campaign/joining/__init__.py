"""Joins shards that different machines ran into one campaign (docs/cluster.md)."""

from h123.campaign.joining.join import Joined, join_shards

__all__ = ["Joined", "join_shards"]
