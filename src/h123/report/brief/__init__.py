"""Prints the answer on one screen: a table, followed by one line for each comparison, cause and caveat."""
