"""Connections as the link saw them: packets of each end, losses, round trips, and a stack's logs of them."""
