"""Contains the commands for campaigns that several machines run in parts (shards): they print job files and join
shards."""
