"""Makes networks from recordings of links in the formats of other tools."""

__all__ = ["network_import"]
