"""The commands for campaigns that many machines run in parts: shards, job files for them, and joining."""
