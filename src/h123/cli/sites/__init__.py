"""Contains the commands about sites."""
