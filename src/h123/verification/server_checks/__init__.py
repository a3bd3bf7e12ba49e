"""Single checks of a server: requests at once, idle connections, unknown versions, and how its faults are explained."""
