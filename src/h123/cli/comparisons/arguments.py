"""Defines the arguments of `h123 compare`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.cli.answer_form import AnswerForm
from h123.study import Basis


@dataclass(frozen=True)
class CompareArguments:
    servers: Sequence[str]
    urls: Sequence[str]
    har: Path | None = None
    page: int | None = None
    every_host: bool = False
    networks: Sequence[str] = ()
    """Networks to use; empty for the default networks."""
    protocols: Sequence[str] | None = None
    method: str | None = None
    headers: Sequence[str] = ()
    data: Path | None = None
    load: str | None = None
    sni: str | None = None
    cacert: Path | None = None
    insecure: bool = False
    allow_remote_load: bool = False
    ready: str | None = None
    environment: Sequence[str] = ()
    cwd: Path = Path()
    client: str = "go"
    congestion: str = "default"
    transport: str = "deployed"
    clock: str = "wall"
    rate: float | None = None
    seed: int = 1
    max_blocks: int | None = None
    precision: float | None = None
    answers_differ: bool = False
    jobs: int | None = None
    out: Path | None = None
    save: Path | None = None
    force: bool = False
    fail_if: Sequence[str] = ()
    by: Basis = "interval"
    form: AnswerForm = AnswerForm.SCREEN
