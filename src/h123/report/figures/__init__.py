"""Figures of a campaign, each drawn for a desk and for a phone."""
