"""The contract test: what a subject declares is asked of it, and what comes back is judged."""
