"""Contains the commands about this machine."""
