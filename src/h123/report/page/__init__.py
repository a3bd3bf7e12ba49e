"""The page of a campaign: report.html, its template, style and script."""
