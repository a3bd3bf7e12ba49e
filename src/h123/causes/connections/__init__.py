"""Connections as the link saw them: packets of each end, losses, round trips, and what a stack logs of them."""
