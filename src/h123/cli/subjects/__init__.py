"""Contains the commands about subjects, networks and studies."""
