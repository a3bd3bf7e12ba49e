"""The commands for campaigns that many machines run, each a part: shards, what starts them, and what joins them."""
