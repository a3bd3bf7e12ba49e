"""Commands about the words of answers."""
