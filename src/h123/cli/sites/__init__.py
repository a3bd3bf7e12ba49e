"""The commands about sites."""
