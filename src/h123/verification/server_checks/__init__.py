"""Makes single checks of a server: simultaneous requests, idle connections, unknown versions. Explains the faults."""
