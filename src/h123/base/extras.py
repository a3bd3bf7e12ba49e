"""Handles extras: packages that one part of h123 needs, and that an installation may lack."""

from dataclasses import dataclass
from importlib.util import find_spec

from h123.base.errors import UserError


@dataclass(frozen=True)
class Extra:
    """The packages that `pip install 'h123[name]'` adds."""

    name: str
    packages: tuple[str, ...]

    @property
    def command(self) -> str:
        return f"pip install 'h123[{self.name}]'"

    def lacking(self, what: str) -> str | None:
        """Return a sentence saying that `what` (plural) needs packages that are not installed, or None if all are
        installed. Does not import the packages."""
        missing = [package for package in self.packages if find_spec(package) is None]
        if not missing:
            return None
        verb = "is" if len(missing) == 1 else "are"
        return f"{what} need {' and '.join(missing)}, which {verb} not installed"

    def note(self, what: str) -> str | None:
        """Return the sentence that `lacking` returns, with the command that installs the packages. None if all are
        installed."""
        lacking = self.lacking(what)
        return f"{lacking}: `{self.command}`." if lacking else None

    def require(self, what: str) -> None:
        """Raise UserError if packages that `what` (plural) needs are not installed."""
        if lacking := self.lacking(what):
            raise UserError(lacking, self.command, status=3)


NOTEBOOK = Extra("notebook", ("pyarrow",))
"""Packages that turn campaigns into Arrow tables and data frames for notebooks."""
PUBLISHED = Extra("published", ("scipy",))
"""Packages for the statistical tests of published analyses."""
REPORT = Extra("report", ("altair", "vl_convert"))
"""Packages for figures."""
