"""Explains what a sender waited for: its congestion window, the receiver's windows, streams, or something to send."""
