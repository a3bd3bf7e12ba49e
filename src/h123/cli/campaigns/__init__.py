"""The commands about campaigns and their studies."""
