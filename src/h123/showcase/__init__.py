"""What was found of the subjects, for people: pages, and the matrix on the terminal and as a page."""

from h123.showcase.catalogue import write_catalogue
from h123.showcase.constants import write_constants
from h123.showcase.matrix import print_matrix, write_matrix
from h123.showcase.profiles import write_profiles

__all__ = ["print_matrix", "write_catalogue", "write_constants", "write_matrix", "write_profiles"]
