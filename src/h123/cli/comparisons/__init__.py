"""The commands that compare builds and servers: with one another, with conditions, with another day."""
