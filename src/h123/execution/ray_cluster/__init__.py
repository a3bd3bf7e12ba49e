"""Uses the nodes of a Ray cluster as machines of a campaign (docs/cluster.md)."""

from h123.execution.ray_cluster.pool import RayPool

__all__ = ["RayPool"]
