"""The commands about subjects, and about other things that studies name."""
