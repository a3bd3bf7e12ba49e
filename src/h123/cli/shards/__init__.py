"""The commands for campaigns that several machines run in parts (shards): job files, and joining."""
