"""Contains the commands about campaigns and their studies."""
