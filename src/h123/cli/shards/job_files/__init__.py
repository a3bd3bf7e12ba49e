"""Job files for shards: one template for each system that runs a command with an index."""
