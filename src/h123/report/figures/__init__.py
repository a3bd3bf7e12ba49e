"""Figures of a campaign, each drawn for a wide screen and for a phone."""
