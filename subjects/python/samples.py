"""What became of a client's requests, as samples.csv says it (docs/contracts.md, section 4)."""

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path


@dataclass
class Sample:
    """A request: a row. Times are nanoseconds of the monotonic clock; None is an empty field: not known."""

    phase: str
    user: int
    start_ns: int
    connected_ns: int | None = None
    sent_ns: int | None = None
    first_byte_ns: int | None = None
    end_ns: int = 0
    status: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    protocol: str = ""
    connection: int | None = None
    reused: int | None = 0
    error: str = ""
    group: int | None = None
    resource: int | None = None


def write_samples(path: str, samples: Iterable[Sample]) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(field.name for field in fields(Sample))
        rows.writerows(astuple(sample) for sample in samples)
