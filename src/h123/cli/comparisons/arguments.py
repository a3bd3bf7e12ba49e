"""Defines the arguments of `h123 compare`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.cli.answer_form import AnswerForm
from h123.study import Basis


@dataclass(frozen=True)
class CompareArguments:
    """The arguments of `h123 compare`."""

    servers: Sequence[str]
    urls: Sequence[str]
    har: Path | None
    page: int | None
    every_host: bool
    networks: Sequence[str]
    """Networks to use; empty for the default networks."""
    protocols: Sequence[str] | None
    method: str | None
    headers: Sequence[str]
    data: Path | None
    load: str | None
    sni: str | None
    cacert: Path | None
    insecure: bool
    allow_remote_load: bool
    ready: str | None
    environment: Sequence[str]
    cwd: Path
    client: str
    congestion: str
    transport: str
    clock: str
    rate: float | None
    seed: int
    max_blocks: int | None
    precision: float | None
    answers_differ: bool
    jobs: int | None
    out: Path | None
    save: Path | None
    force: bool
    fail_if: Sequence[str]
    by: Basis
    form: AnswerForm
