"""Measures, from packets alone, how a stack uses ECN and how it adapts to the MTU of a path."""

from h123.verification.paths.findings import PathBehaviour, checks
from h123.verification.paths.measure import follows_paths, measure_paths
from h123.verification.paths.words import path_cells, path_findings, path_words

__all__ = ["PathBehaviour", "checks", "follows_paths", "measure_paths", "path_cells", "path_findings", "path_words"]
