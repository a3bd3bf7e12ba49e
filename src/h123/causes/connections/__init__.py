"""Describes connections as the link saw them: the packets of each end, losses, round trips, and the stack's logs."""
