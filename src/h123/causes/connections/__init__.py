"""Connections as the link saw them: packets of each end, losses, round trips, and the stack's logs."""
