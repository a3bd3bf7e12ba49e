"""A client carries out small workloads, and its samples and facts are checked against what it was asked."""
