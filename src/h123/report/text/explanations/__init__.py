"""Why levels differ, in sentences."""
