"""The answer on one screen: a table, then one line for each comparison, cause and caveat."""
