"""Defines the arguments of `h123 tune`, checks them, and makes the candidates."""

import hashlib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.roots import mounted
from h123.base.terminal.redaction import hidden
from h123.catalogue import catalogue
from h123.cli.answer_form import AnswerForm
from h123.cli.comparisons.arguments import CompareArguments
from h123.cli.comparisons.server_options import BLOCKS, MARGIN, NETWORKS
from h123.cli.comparisons.servers import check_protocols, environment_of
from h123.cli.options import share
from h123.study import METRICS
from h123.tuning import Candidate, Knob, KnobLibrary, ServerTemplate, candidates, placeholders, read_knobs

_OPTIONS = {
    "--server": "server",
    "--config": "config",
    "--knobs": "knob_file",
    "--knob": "knobs",
    "--env": "environment",
    "--url": "urls",
    "--also": "also",
    "--har": "har",
    "--page": "page",
    "--hosts": "hosts",
    "--networks": "networks",
    "--held-out-networks": "held_out",
    **{f"--{name}": name for name in ("protocols", "metric", "load", "rate", "method", "data", "sni", "ready", "cwd")},
    "--header": "headers",
    "--client": "client",
    "--seed": "seed",
    "--blocks": "blocks",
    "--answers-differ": "answers_differ",
}
"""The options on which the results depend, with the names of their arguments in TuneArguments."""
_DEFAULTS = {"hosts": "own", "metric": "latency", "client": "go", "seed": 1, "cwd": Path()}


@dataclass(frozen=True)
class TuneArguments:
    networks: str = NETWORKS
    held_out: str = NETWORKS
    margin: float = share(MARGIN)
    blocks: int = BLOCKS
    server: str | None = None
    knobs: Sequence[str] = ()
    config: Path | None = None
    knob_file: str | None = None
    urls: Sequence[str] = ()
    also: Sequence[str] = ()
    har: Path | None = None
    page: int | None = None
    hosts: str = "own"
    protocols: str | None = None
    metric: str = "latency"
    load: str | None = None
    rate: float | None = None
    method: str | None = None
    headers: Sequence[str] = ()
    data: Path | None = None
    sni: str | None = None
    ready: str | None = None
    environment: Sequence[str] = ()
    cwd: Path = Path()
    client: str = "go"
    seed: int = 1
    answers_differ: bool = False
    jobs: int | None = None
    engine: str = "local"
    address: str | None = None
    out: Path | None = None
    form: AnswerForm = AnswerForm.SCREEN

    @property
    def resumes(self) -> bool:
        """Whether the arguments name a folder but no server, so that they can only resume a tuning."""
        return self.out is not None and not (self.server or self.knobs or self.knob_file)

    def compared(self, urls: Sequence[str]) -> CompareArguments:
        """Return the arguments with which `h123 compare` would survey the same server."""
        return CompareArguments(
            servers=[self.server or ""],
            urls=urls,
            har=self.har,
            page=self.page,
            every_host=self.hosts == "all",
            protocols=self.protocols.split(",") if self.protocols else None,
            method=self.method,
            headers=self.headers,
            data=self.data,
            load=self.load or "1",
            sni=self.sni,
            insecure=True,
            ready=self.ready,
            cwd=self.cwd,
            rate=self.rate,
        )


@dataclass(frozen=True)
class Requested:
    """A tuning as the arguments and the knob file describe it."""

    template: ServerTemplate
    knobs: list[Knob]
    candidates: list[Candidate]
    urls: list[str]
    also: list[str]
    subject: str | None
    """The subject whose program the knob file starts."""
    asked: dict[str, str]
    """All options on which the results depend, as text."""
    command: str


def requested(a: TuneArguments) -> Requested:
    """Check the arguments, and make the candidates. Raises UserError."""
    library = KnobLibrary.read(a.knob_file) if a.knob_file else None
    text = a.server or (library.content.command if library else None)
    if text is None:
        remedy = "give the command that starts it: --server './my-server --window {{ window }}'"
        there = f", and there is no tuning in {a.out} to resume" if a.resumes else ""
        raise UserError(f"no server given{', and the knob file starts none' if library else there}", remedy)
    own = a.server is not None or library is None
    subject = None if own or library is None else library.content.subject
    if a.engine == "ray" and subject is None:
        raise UserError(
            "--engine ray: other machines do not have this server",
            remedy="leave --engine out, or write a knob file that names a subject (docs/contracts/tuning.md)",
        )
    template = ServerTemplate(
        text,
        environment_of(a.environment),
        a.config or (None if own or library is None else library.template()),
        mounted("subjects", _installed(subject)) if subject else None,
    )
    knobs, names = read_knobs(a.knobs, library), placeholders(template)
    if library and not a.knobs:
        knobs = [knob for knob in knobs if knob.name in names]
        if not knobs:
            raise UserError(
                f"none of the knobs in {library.path} is in the configuration or in the command",
                remedy=f"write placeholders there, such as {{{{ {next(iter(library.content.knobs))} }}}}",
            )
    varied = {knob.name for knob in knobs}
    fixed = {k: library.knob(k).values[0] for k in library.content.knobs if k not in varied} if library else {}
    made = candidates(template, knobs, fixed)
    _check_metric(a)
    check_protocols(a.protocols.split(",") if a.protocols else ())
    urls = list(a.urls)
    if library and library.content.url and not urls:
        urls = [urljoin(library.content.url, "/") if a.har else library.content.url]
    if a.also and a.har:
        raise UserError("--also names single requests, so it cannot be combined with --har")
    more = library.content.also if library and not (a.urls or a.har) else None
    also = [urljoin(urls[0], each) if urls else each for each in a.also] or ([more] if more else [])
    return Requested(template, knobs, made, urls, also, subject, _asked(a, template, made), _command(a))


def _check_metric(a: TuneArguments) -> None:
    if a.metric not in METRICS:
        raise UserError(f"--metric {a.metric}: {choose(a.metric, METRICS)}")
    if METRICS[a.metric].of_visits and not a.har:
        raise UserError(f"--metric {a.metric} measures page visits", remedy="name a recorded page: --har FILE")
    if "virtual" not in METRICS[a.metric].clocks:
        raise UserError(f"--metric {a.metric} has no value under the virtual clock, where processing takes no time")


def _installed(name: str) -> str:
    if name not in catalogue():
        raise UserError(f"the knob file's subject {name} is missing", remedy=choose(name, catalogue()))
    return catalogue()[name].installed_as


def _options(a: TuneArguments) -> Iterator[tuple[str, str]]:
    """Yield the options that differ from their defaults, as the user may type them."""
    for option, name in _OPTIONS.items():
        value = getattr(a, name)
        for each in value if isinstance(value, list | tuple) else [value]:
            if each not in (None, False) and each != _DEFAULTS.get(name) and (name != "held_out" or each != a.networks):
                yield option, str(each)
    yield "--margin", f"{100 * a.margin:g}%"


def given(a: TuneArguments) -> dict[str, str]:
    """Return the options that differ from their defaults, and on which the results depend."""
    return dict(_texts(a).items() - _texts(TuneArguments()).items())


def _texts(a: TuneArguments) -> dict[str, str]:
    asked: dict[str, str] = {}
    for option, value in _options(a):
        asked[option] = f"{asked[option]}\n{value}" if option in asked else value
    if a.data and a.data.is_file():
        asked["--data"] = hashlib.sha256(a.data.read_bytes()).hexdigest()
    return asked


def _asked(a: TuneArguments, template: ServerTemplate, made: Sequence[Candidate]) -> dict[str, str]:
    asked = _texts(a)
    for place, text in template.parts():
        asked[place if place.startswith("--") else "--config"] = text
    return {**asked, "--knob": "; ".join(f"{each.name}: {dict(each.values)}" for each in made)}


def _command(a: TuneArguments) -> str:
    """Return the command that repeats the tuning, without secrets."""
    words = ["h123", "tune"]
    for option, value in _options(a):
        words += [option] if value == "True" else [option, _without_secret(option, value)]
    return shlex.join(words)


def _without_secret(option: str, value: str) -> str:
    if option == "--header":
        return f"{value.partition(':')[0]}: ***"
    return hidden(value) if option != "--env" or "{{" in value else f"{value.partition('=')[0]}=***"
