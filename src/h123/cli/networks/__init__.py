"""Contains the commands about networks."""
