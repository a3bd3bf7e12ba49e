"""Makes individual checks of a server (simultaneous requests, idle connections, unknown versions), and explains the
faults."""
