"""The commands about subjects, and about what else studies name."""
