"""Writes job files for shards, from one template for each system (Slurm, Kubernetes, GitHub)."""
