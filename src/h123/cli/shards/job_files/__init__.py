"""Job files for shards: one template for each system (Slurm, Kubernetes, GitHub)."""
