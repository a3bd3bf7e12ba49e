"""schemas/*.yaml: what the columns of foreign samples mean, and which study could have measured them.

A schema is a study without `blocks` and `seed`, and a part `samples` that leads from a file's columns to it. Parameters
that it does not set are not known: they stand as placeholders in the study, and `Schema.unknown` names them.
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
"""The placeholder for a server, client or network that no file names."""

Unit = Literal["ns", "us", "ms", "s", "unix-ns", "unix-us", "unix-ms", "unix-s", "unix", "rfc3339"]
"""unix: since 1970 in s, ms, us or ns, whichever its digits mean, or RFC 3339; whole seconds give the runs' order."""
Format = Literal["csv", "tsv", "jsonl", "scorecard", "autocannon", "locust", "nighthawk"]
Redirects = Literal["failed", "left-out"]


class ColumnSource(Strict):
    """The source of one value of a sample: a column, or one value for all samples."""

    column: str | None = None
    """A column, or `value`."""
    value: str | int | float | None = None
    """One value for all samples."""
    unit: Unit | None = None
    """The unit of times. ns, us, ms, s have any origin; `unix` is whichever the digits mean, or RFC 3339; `rfc3339` is
    one clock for all runs, so their order is known."""
    values: dict[str | int, str | int | float] = Field(default={})
    """Maps what the column contains to what it means."""

    @model_validator(mode="after")
    def _one_origin(self) -> "ColumnSource":
        if (self.column is None) == (self.value is None):
            raise ValueError("write either `column` or `value`")
        return self


class Samples(Strict):
    """How to read the files."""

    reads: str | None = None
    """Take `samples` of another schema, such as `oha`, except its `levels`, `file_name`, `run` and `block`."""
    format: Format = "csv"
    """`jsonl`: one object a line, nested fields named `data.tags.status`. The last four are what these tools write."""
    rows: Literal["requests", "runs"] = "requests"
    """`runs`: each row is a run of one request, and the rows of one file are in the order of measurement where they
    have no times."""
    redirects: Redirects = "failed"
    """How to count answers 3xx except 304."""
    header: list[str] | None = None
    """Names of the columns of a file that has no header line."""
    where: dict[str, str] = Field(default={})
    """Only rows with these values are requests."""
    file_name: list[str] = Field(default=[])
    """Patterns of the file's name without its ending, `"{protocol}-{block}"`; names in braces become columns; the first
    match wins."""
    start: ColumnSource | None = None
    """With `end`, or `latency` alone."""
    end: ColumnSource | None = None
    """The same units as `start`."""
    latency: ColumnSource | None = None
    """From the request's start. Required unless there are `start` and `end`."""
    ttfb: ColumnSource | None = None
    """From the request's start."""
    status: ColumnSource
    """HTTP status, also as `200 OK`; below 100, empty or another text: no answer. 200 to 299 is a success."""
    bytes_up: ColumnSource | None = None
    """Body bytes."""
    bytes_down: ColumnSource | None = None
    """Body bytes."""
    protocol: ColumnSource | None = None
    """h1, h2, h3 as negotiated."""
    error: ColumnSource | None = None
    """Text; empty: none."""
    succeeded: ColumnSource | None = None
    """True or false, yes or no, 1 or 0, ok or ko; empty: not known. False makes an answer a failure."""
    phase: ColumnSource | None = None
    """cold, warmup, warm. Without it all are warm."""
    tls: ColumnSource | None = None
    """1.0 to 1.3, or `none`; empty: not known."""
    resumed: ColumnSource | None = None
    """Whether the request's connection resumed an earlier session: yes or no, 1 or 0; empty: not known."""
    levels: dict[str, ColumnSource] = Field(default={})
    """The level's name, for each factor."""
    run: ColumnSource | None = None
    """Any label."""
    block: ColumnSource | None = None
    """Any label."""

    @field_validator("file_name")
    @classmethod
    def _check_patterns(cls, patterns: list[str]) -> list[str]:
        for pattern in patterns:
            names = re.findall(r"\{(\w+)\}", pattern)
            if wrong := [name for name in names if not name.isidentifier() or not name.isascii()]:
                raise ValueError(
                    f"{excerpt(pattern)}: {excerpt(wrong[0])} is no name of a column; begin it with a letter"
                )
            if len(set(names)) < len(names):
                raise ValueError(f"{excerpt(pattern)} has one name twice")
            if "}{" in pattern:
                raise ValueError(f"{excerpt(pattern)}: between two names there must be something that parts them")
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
        """Whether the files say when a request began."""
        return self.start is not None or self.end is not None

    @property
    def ordered(self) -> bool:
        """Whether one clock gives the times of different runs, so that their order is known."""
        moment = self.start or self.end
        if moment is None:
            return self.rows == "runs"
        return moment.unit not in ("ns", "us", "ms", "s")


@dataclass(frozen=True)
class Schema:
    """A schema, resolved."""

    path: Path
    text: str
    study: Study
    samples: Samples
    unknown: list[str]
    """Parameters about which nothing is known."""


def load_schema(name: str, redirects: Redirects | None = None) -> Schema:
    """Read a schema by its name (`oha`) or its file, with `redirects` instead of its own. Raises UserError with file,
    line and what is allowed there."""
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
            message = f"nothing says which column holds a sample's level of factor {factor!r}"
            raise document.error(["samples", "levels"], f"{message}: write `levels: {{{factor}: {{column: ...}}}}`")
    for factor in samples.levels:
        if factor not in study.factors:
            raise document.error(
                ["samples", "levels", factor], f"there is no factor {factor!r}; {choose(factor, study.factors)}"
            )
    unknown = [name for name in PARAMETER_NAMES if name not in set_parameters and name != "clock"]
    return Schema(path, document.text, study, samples, unknown)


def _samples(document: YamlDocument) -> Samples:
    """The part `samples`, completed by the schema that it `reads`."""
    content = document.data.pop("samples", None)
    if not isinstance(content, dict):
        message = "`samples` is missing; it says what the columns mean"
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
    """The parameters that some factor sets in every level. The reader reports malformed factors later."""
    names: set[str] = set()
    for name, levels in factors.items() if isinstance(factors, dict) else ():
        bundles = (
            [set(level) for level in levels.values() if isinstance(level, dict)] if isinstance(levels, dict) else []
        )
        names |= {name} if isinstance(levels, list) else set.intersection(*bundles) if bundles else set()
    return names


class _ForeignReader(StudyReader):
    """Reads the study in a schema: any server and client, a network that may be unknown, no need of a twin."""

    def check_subject(self, name: str, at: Location) -> None:
        """Accept any name: foreign subjects are in no catalogue."""

    def network(self, name: str, at: Location) -> str:
        if name != UNKNOWN:
            return super().network(name, at)
        self.networks[UNKNOWN] = Network(name=UNKNOWN, title="not known")
        return UNKNOWN

    def alike(self, level: Level, other: Level) -> bool:  # noqa: ARG002
        """Accept any levels: other tools vary things that are no parameters of h123."""
        return False

    def check_twin(self, study: Study) -> None:
        if study.compare.twin:
            super().check_twin(study)
