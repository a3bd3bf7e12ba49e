"""Contains individual checks of a server (simultaneous requests, idle connections, unknown versions, receive windows),
and the explanation of their faults."""
