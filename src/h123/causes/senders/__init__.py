"""What a sender waited for: its congestion window, windows of the receiver, streams, or something to send."""
