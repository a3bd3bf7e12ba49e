"""Draws the figures of a campaign, each for a wide screen and for a phone."""
