"""The commands about subjects, networks and studies."""
