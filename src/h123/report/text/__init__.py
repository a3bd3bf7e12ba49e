"""What was found, in sentences, numbers and names: for the terminal and the page alike."""
