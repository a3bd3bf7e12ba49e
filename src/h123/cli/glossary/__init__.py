"""Contains the command that explains terms in h123's output."""
