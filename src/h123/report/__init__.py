"""What a campaign found, for people: a page, figures, and a summary for the terminal."""
