"""Describes results in sentences, numbers and names, for both the terminal and the page."""
