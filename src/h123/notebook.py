"""Reads campaigns in notebooks and scripts: measurements as Arrow tables, findings as rows (docs/notebook.md)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING
from warnings import warn

import duckdb

from h123.analysis.comparisons.rows import JudgedComparison
from h123.analysis.sections import Verdicts, read_verdicts
from h123.base.errors import UserError, interruptible
from h123.base.extras import NOTEBOOK
from h123.measures import connect_with_metrics
from h123.store import CampaignFolder, damage_warning
from h123.study import METRICS, Network, Study

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["METRICS", "CampaignData", "open"]


@contextmanager
def _advised() -> Iterator[None]:
    """Add the advice of a UserError to its traceback as a note, because a notebook shows only the traceback."""
    try:
        yield
    except UserError as error:
        if error.remedy:
            error.add_note(error.remedy)
        raise


def open(path: str | PathLike[str]) -> "CampaignData":
    """Open the campaign in a folder, and check all its files against their digests.

    Raises UserError if the folder is not a campaign, or if its plan or journal has changed since h123 wrote it. Trials
    whose files have changed are left out with a warning, as in every analysis.
    """
    with _advised():
        folder = CampaignFolder.open(Path(path))
        damage = damage_warning(folder)
    if damage:
        warn(f"{damage.message}: {damage.remedy}", stacklevel=2)
    return CampaignData(folder)


class CampaignData:
    """A campaign opened with `open`. Nothing here changes its folder."""

    def __init__(self, folder: CampaignFolder) -> None:
        self._folder = folder

    def __repr__(self) -> str:
        return f"<campaign {self.path}, of study {self.study.name}>"

    @property
    def path(self) -> Path:
        """The campaign's folder."""
        return self._folder.path

    @cached_property
    def study(self) -> Study:
        """The study, with every parameter resolved."""
        with _advised():
            return Study.from_resolved(self._folder.study, self._folder.networks)

    @property
    def networks(self) -> Mapping[str, Network]:
        """The campaign's networks, by name."""
        return self.study.networks

    @cached_property
    def trials(self) -> "pa.Table":
        """The trials that count, one row each, with the levels of their factors and their metrics. All verdicts come
        from these trials.

        The columns are those of `h123 export`.
        """
        return self._table("FROM whole.attempts WHERE analysed ORDER BY block, position, trial")

    def samples(self, where: str = "true", columns: Sequence[str] = ()) -> "pa.Table":
        """Return the requests of the trials that count, one row each, with the trial's block and levels.

        `where` is a condition in DuckDB's SQL, such as `phase = 'warm' AND cell_network = 'poor'`. `columns` selects
        columns; by default, you get all. Raises UserError if the condition or a column is not valid.
        """
        selection = ", ".join('"' + column.replace('"', '""') + '"' for column in columns) or "*"
        return self._table(
            f"SELECT {selection} FROM whole.samples WHERE analysed AND ({where}) ORDER BY trial, start_ns, user, end_ns"
        )

    @cached_property
    def verdicts(self) -> Verdicts:
        """The results of the last `h123 analyse` of the campaign. Raises UserError if there are none."""
        with _advised():
            return read_verdicts(self._folder)

    @property
    def comparisons(self) -> Sequence[JudgedComparison]:
        """The study's comparisons from `verdicts`, without A/A pairs."""
        return [row for row in self.verdicts["comparisons"] if not row["twin"]]

    @cached_property
    def _tables(self) -> duckdb.DuckDBPyConnection:
        return connect_with_metrics(self._folder)

    def _table(self, query: str) -> "pa.Table":
        with _advised():
            NOTEBOOK.require("Arrow tables")
            try:
                with interruptible():
                    return self._tables.sql(query).to_arrow_table()
            except duckdb.Error as error:
                raise UserError(f"this cannot be read from {self.path}: {error}") from None
