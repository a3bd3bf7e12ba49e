"""Single checks of a server: simultaneous requests, idle connections, unknown versions, and explanations of faults."""
