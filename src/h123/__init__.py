"""Measures HTTP/1.1, HTTP/2 and HTTP/3 side by side over emulated networks, and says which one serves a workload
best."""

__version__ = "0.2.0"
