"""Reads schemas/*.yaml, which define the columns of other tools' samples and the study that the samples belong to.

A schema is a study without `blocks` and `seed`, plus a `samples` section that maps a file's columns to the study.
Parameters that the schema does not set are unknown: the study contains placeholders or defaults for them, and
`Schema.unknown` lists them.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from h123.base.complaints import choose, excerpt
from h123.base.errors import UserError
from h123.base.strict import Strict
from h123.study.networks.network import Network
from h123.study.parameters import PARAMETER_NAMES
from h123.study.reader import StudyReader
from h123.study.registry import find_schema
from h123.study.study import Level, Study
from h123.study.yaml_document import Location, YamlDocument

FORMAT = "import/1"
UNKNOWN = "unknown"
"""The placeholder for a server, client or network that the schema does not name."""

Unit = Literal["ns", "us", "ms", "s", "unix-ns", "unix-us", "unix-ms", "unix-s", "unix", "rfc3339"]
"""The units of times. `unix` is the time since 1970 in s, ms, us or ns, recognised by the number of digits, or a time
in the format of RFC 3339. Times in whole seconds only show the order of the runs."""
Format = Literal["csv", "tsv", "jsonl", "scorecard", "autocannon", "locust", "nighthawk"]
Redirects = Literal["failed", "left-out"]


class ColumnSource(Strict):
    """The source of one value of a sample: a column, or a constant for all samples."""

    column: str | None = None
    """The name of a column. Write either this or `value`."""
    value: str | int | float | None = None
    """A constant for all samples."""
    unit: Unit | None = None
    """The unit of times. For ns, us, ms and s, the origin is arbitrary. `unix` recognises the unit by the number of
    digits, and also reads RFC 3339. Times since 1970 and RFC 3339 times show the order of the runs."""
    values: dict[str | int, str | int | float] = Field(default={})
    """Maps the values in the column to their meanings."""

    @model_validator(mode="after")
    def _one_origin(self) -> "ColumnSource":
        if (self.column is None) == (self.value is None):
            raise ValueError("write either `column` or `value`")
        return self


class Samples(Strict):
    """A schema's instructions for reading files of samples."""

    reads: str | None = None
    """The name of a schema, such as `oha`, whose `samples` apply here as well, except for `levels`, `file_name`, `run`
    and `block`."""
    format: Format = "csv"
    """The format of the files. `jsonl`: one object per line, with nested fields named like `data.tags.status`. The last
    four formats are named after the tools that write them."""
    rows: Literal["requests", "runs"] = "requests"
    """`requests`: each row is a request. `runs`: each row is a run of one request; if rows have no times, they must be
    in the order of measurement."""
    redirects: Redirects = "failed"
    """Whether responses with a 3xx status other than 304 count as failed or are left out."""
    header: list[str] | None = None
    """Names of the columns, for a file without a header line."""
    where: dict[str, str] = Field(default={})
    """Maps columns to values. Only rows with these values are read."""
    file_name: list[str] = Field(default=[])
    """Patterns for the file's name without its extension, such as `"{protocol}-{block}"`. Names in braces become
    columns; the first pattern that matches applies."""
    start: ColumnSource | None = None
    """The start of the request. Give `start` and `end`, or `latency`."""
    end: ColumnSource | None = None
    """The end of the request."""
    latency: ColumnSource | None = None
    """The duration of the request. Required unless both `start` and `end` are given."""
    ttfb: ColumnSource | None = None
    """The time from the request's start to the first byte of the response."""
    status: ColumnSource
    """The HTTP status, also in the form `200 OK`. A number below 100, an empty field or any other text means that there
    was no response. Statuses from 200 to 299 are successes."""
    bytes_up: ColumnSource | None = None
    """The size of the request's body in bytes."""
    bytes_down: ColumnSource | None = None
    """The size of the response's body in bytes."""
    protocol: ColumnSource | None = None
    """The negotiated protocol: h1, h2 or h3."""
    error: ColumnSource | None = None
    """The error message. An empty field means no error."""
    succeeded: ColumnSource | None = None
    """Whether the request succeeded: true or false, yes or no, 1 or 0, ok or ko; empty if not known. A response with
    false counts as failed, whatever its status."""
    phase: ColumnSource | None = None
    """The phase of the request: cold, warmup or warm. Without this key, all requests are warm."""
    tls: ColumnSource | None = None
    """The TLS version from 1.0 to 1.3, or `none`; empty if not known."""
    resumed: ColumnSource | None = None
    """Whether the request's connection resumed an earlier session: yes or no, 1 or 0; empty if not known."""
    levels: dict[str, ColumnSource] = Field(default={})
    """For each factor, the source of the level's name."""
    run: ColumnSource | None = None
    """A label for the run; any text."""
    block: ColumnSource | None = None
    """A label for the block; any text."""

    @field_validator("file_name")
    @classmethod
    def _check_patterns(cls, patterns: list[str]) -> list[str]:
        for pattern in patterns:
            names = re.findall(r"\{(\w+)\}", pattern)
            if wrong := [name for name in names if not name.isidentifier() or not name.isascii()]:
                raise ValueError(
                    f"{excerpt(pattern)}: {excerpt(wrong[0])} is not a valid column name; start it with a letter"
                )
            if len(set(names)) < len(names):
                raise ValueError(f"{excerpt(pattern)} contains a name twice")
            if "}{" in pattern:
                raise ValueError(f"{excerpt(pattern)}: write a separator between two names")
        return patterns

    @model_validator(mode="after")
    def _makes_sense(self) -> "Samples":
        if self.latency is None and (self.start is None or self.end is None):
            raise ValueError("`latency` is missing: write it, or both `start` and `end`")
        for name in ("start", "end", "latency", "ttfb"):
            source: ColumnSource | None = getattr(self, name)
            if source and source.unit is None:
                raise ValueError(f"`{name}` needs a `unit`: one of {', '.join(get_args(Unit))}")
            if source and name in ("latency", "ttfb") and source.unit not in ("ns", "us", "ms", "s"):
                raise ValueError(f"`{name}` is a duration: its `unit` must be one of ns, us, ms, s")
        return self

    @property
    def timed(self) -> bool:
        """Whether the files record when requests began or ended."""
        return self.start is not None or self.end is not None

    @property
    def ordered(self) -> bool:
        """Whether the order of the runs is known, for example because one clock gives the times of all of them."""
        moment = self.start or self.end
        if moment is None:
            return self.rows == "runs"
        return moment.unit not in ("ns", "us", "ms", "s")


@dataclass(frozen=True)
class Schema:
    """A schema in which all names are resolved."""

    path: Path
    text: str
    study: Study
    samples: Samples
    unknown: list[str]
    """The parameters that the schema does not set."""


def load_schema(name: str, redirects: Redirects | None = None) -> Schema:
    """Read a schema, given its name (such as `oha`) or its file. `redirects` replaces the schema's value. Raises
    UserError with the file, the line and what is allowed there."""
    path = find_schema(name)
    document = YamlDocument.read(path, FORMAT)
    samples = _samples(document)
    if redirects is not None:
        samples = samples.model_copy(update={"redirects": redirects})
    settings = document.data.setdefault("settings", {})
    set_parameters = (
        {*settings, *_set_by_factors(document.data.get("factors"))} if isinstance(settings, dict) else set()
    )
    if isinstance(settings, dict):
        if samples.rows == "runs":
            settings.update({name: 1 for name in ("users", "requests") if name not in set_parameters})
            set_parameters |= {"users", "requests"}
        settings.update({name: UNKNOWN for name in ("server", "client", "network") if name not in set_parameters})
    for key in ("blocks", "seed"):
        if key in document.data:
            raise document.error([key], f"`{key}` does not belong in a schema: imported samples have their own blocks")
    document.data["blocks"] = 1
    if isinstance(document.data.get("compare"), dict):
        document.data["compare"].setdefault("twin", "")
    study = _ForeignReader(document).study()
    for factor in study.factors:
        if factor not in samples.levels:
            message = f"no column gives a sample's level of factor {factor!r}"
            raise document.error(["samples", "levels"], f"{message}: write `levels: {{{factor}: {{column: ...}}}}`")
    for factor in samples.levels:
        if factor not in study.factors:
            raise document.error(
                ["samples", "levels", factor], f"there is no factor {factor!r}; {choose(factor, study.factors)}"
            )
    unknown = [name for name in PARAMETER_NAMES if name not in set_parameters and name != "clock"]
    return Schema(path, document.text, study, samples, unknown)


def _samples(document: YamlDocument) -> Samples:
    """Return the `samples` section, completed with that of the schema that it `reads`."""
    content = document.data.pop("samples", None)
    if not isinstance(content, dict):
        message = "`samples` is missing; it defines the columns"
        raise document.error(["samples"], message, remedy=f"add it; {document.page} has examples")
    base: dict[str, Any] = {}
    if isinstance(content.get("reads"), str):
        try:
            base = YamlDocument.read(find_schema(content["reads"]), FORMAT).data["samples"]
        except UserError as error:
            raise document.error(["samples", "reads"], error.message) from None
        base = {key: value for key, value in base.items() if key not in ("levels", "file_name", "run", "block")}
    return document.validate(Samples, {**base, **content}, at=["samples"])


def _set_by_factors(factors: Any) -> set[str]:
    """Return the parameters that a factor sets in all of its levels. The reader reports malformed factors later."""
    names: set[str] = set()
    for name, levels in factors.items() if isinstance(factors, dict) else ():
        bundles = (
            [set(level) for level in levels.values() if isinstance(level, dict)] if isinstance(levels, dict) else []
        )
        names |= {name} if isinstance(levels, list) else set.intersection(*bundles) if bundles else set()
    return names


class _ForeignReader(StudyReader):
    """A reader of the study in a schema. It accepts any server and client, an unknown network, and a study without a
    twin."""

    def check_subject(self, name: str, at: Location) -> None:
        """Accept any name: servers and clients of other tools are in no catalogue."""

    def network(self, name: str, at: Location) -> str:
        if name != UNKNOWN:
            return super().network(name, at)
        self.networks[UNKNOWN] = Network(name=UNKNOWN, title="not known")
        return UNKNOWN

    def alike(self, level: Level, other: Level) -> bool:  # noqa: ARG002
        """Return False, so that no two levels are refused as identical: other tools vary settings that h123 does not
        know."""
        return False

    def check_twin(self, study: Study) -> None:
        if study.compare.twin:
            super().check_twin(study)
