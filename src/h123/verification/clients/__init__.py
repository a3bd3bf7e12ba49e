"""Verifies clients: a client carries out small workloads, and its samples and facts are checked."""
