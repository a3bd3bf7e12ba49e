"""Writes the page of a campaign: report.html, from its template, style and script."""
