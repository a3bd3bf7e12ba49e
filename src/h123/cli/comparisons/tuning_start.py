"""Starts a tuning: makes the candidates, surveys each of them, and drafts the study whose parts the rounds run."""

import dataclasses
import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.files.scratch import scratch
from h123.base.roots import mounted
from h123.base.terminal.console import say
from h123.base.units import counted
from h123.catalogue import OwnServer, catalogue, install
from h123.cli.answer_form import AnswerForm
from h123.cli.comparisons.arguments import CompareArguments
from h123.cli.comparisons.inquiry import inquiry_of, load_of
from h123.cli.comparisons.servers import PROTOCOLS, environment_of, server_started
from h123.cli.comparisons.surveyed import answers_of, check_client, networks_named, recorded, visits, with_abilities
from h123.execution import SERVER_ADDRESS, campaign_certificate
from h123.probe import (
    TITLES,
    Draft,
    DraftedRequests,
    Inquiry,
    ServerAbilities,
    abilities_words,
    check_answers,
    judge,
    survey,
)
from h123.study import METRICS
from h123.study.workload import Upload
from h123.tuning import (
    DEFAULT,
    Candidate,
    Knob,
    KnobLibrary,
    ServerTemplate,
    Tuning,
    candidates,
    placeholders,
    read_knobs,
    study_text,
)

CONFIGS = "configs"
"""The folder of the candidates' configurations, and of uploads, below the folder of the tuning."""
_OPTIONS = {
    "--server": "server",
    "--config": "config",
    "--knobs": "knob_file",
    "--knob": "knobs",
    "--env": "environment",
    "--url": "urls",
    "--also": "also",
    "--har": "har",
    "--networks": "networks",
    "--held-out-networks": "held_out",
    **{f"--{name}": name for name in ("protocols", "metric", "load", "rate", "method", "data", "sni", "ready", "cwd")},
    "--header": "headers",
    "--client": "client",
    "--seed": "seed",
    "--blocks": "blocks",
    "--answers-differ": "answers_differ",
}
"""The options on which the results depend, with the names of the arguments."""
_DEFAULTS = {"metric": "latency", "client": "go", "seed": 1, "cwd": Path()}
_REQUESTS = 4
"""The default number of requests of a trial."""


@dataclass(frozen=True)
class TuneArguments:
    """The arguments of `h123 tune`."""

    networks: str
    held_out: str
    margin: float
    blocks: int
    server: str | None = None
    knobs: Sequence[str] = ()
    config: Path | None = None
    knob_file: str | None = None
    urls: Sequence[str] = ()
    also: Sequence[str] = ()
    har: Path | None = None
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
        """Whether the arguments only name a folder."""
        return self.out is not None and not (self.server or self.knobs or self.knob_file or self.urls)

    def compared(self, urls: Sequence[str]) -> CompareArguments:
        """Return the arguments with which `h123 compare` would survey the server."""
        return CompareArguments(
            servers=[self.server or ""],
            urls=urls,
            har=self.har,
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
    """What the arguments and the knob file ask for."""

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
    """The command that repeats the tuning."""


def requested(a: TuneArguments) -> Requested:
    """Check the arguments, and make the candidates. Raises UserError."""
    library = KnobLibrary.read(a.knob_file) if a.knob_file else None
    text = a.server or (library.content.command if library else None)
    if text is None:
        remedy = "give the command that starts it: --server './my-server --window {{ window }}'"
        raise UserError("no server given, and the knob file starts none" if library else "no server given", remedy)
    own = a.server is not None or library is None
    subject = None if own or library is None else library.content.subject
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
    if a.metric not in METRICS:
        raise UserError(f"--metric {a.metric}: {choose(a.metric, METRICS)}")
    urls = list(a.urls) or ([library.content.url] if library and library.content.url and not a.har else [])
    also = list(a.also) or ([library.content.also] if library and library.content.also and not a.urls else [])
    if also and a.har:
        raise UserError("--also names single requests, so it cannot be combined with --har")
    return Requested(template, knobs, made, urls, also, subject, _asked(a, template, made), _command(a))


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


def _asked(a: TuneArguments, template: ServerTemplate, made: Sequence[Candidate]) -> dict[str, str]:
    asked: dict[str, str] = {}
    for option, value in _options(a):
        asked[option] = f"{asked[option]}\n{value}" if option in asked else value
    for place, text in template.parts():
        asked[place if place.startswith("--") else "--config"] = text
    if a.data and a.data.is_file():
        asked["--data"] = hashlib.sha256(a.data.read_bytes()).hexdigest()
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
    return value if option != "--env" or "{{" in value else f"{value.partition('=')[0]}=***"


def begin(a: TuneArguments, wanted: Requested, out: Path) -> Tuning:
    """Survey every candidate, and draft the study. The candidates' configurations are in `out` afterwards. Raises
    UserError, for example if the default does not work."""
    check_client(a.client)
    arguments = a.compared([*wanted.urls, *wanted.also])
    page = recorded(arguments)
    inquiry, load = inquiry_of(arguments, page), load_of(arguments, [], page is not None)
    # More blocks say more than more requests in a trial, which share its connection.
    fewest = -(-max(_REQUESTS, METRICS[a.metric].needs.requests) // load.users)
    load = dataclasses.replace(load, requests=load.requests or (None if page or load.rate else fewest))
    (networks, files), (last, more) = networks_named(a.networks.split(",")), networks_named(a.held_out.split(","))
    if wanted.subject:
        install(catalogue()[wanted.subject], say)
        arguments = dataclasses.replace(arguments, cwd=Path("/"))
    servers, dropped = _servers(wanted, arguments, inquiry)
    known, failed = _survey(servers, inquiry, a, wanted.candidates)
    dropped |= failed
    protocols = _protocols(a, known[DEFAULT])
    for name, abilities in list(known.items()):
        if why := _unlike(name, abilities, known[DEFAULT], protocols, inquiry, a):
            known.pop(name)
            dropped[name] = why
    answers = answers_of({DEFAULT: known[DEFAULT]}, protocols, len(inquiry.site.paths))
    asked_paths = len(answers) - len(wanted.also)
    draft = Draft(
        servers={name: with_abilities(servers[name], abilities) for name, abilities in known.items()},
        inquiry=inquiry,
        protocols=protocols,
        workload=visits(page, inquiry, answers, load)
        if page
        else DraftedRequests(_paths(inquiry, slice(asked_paths)), answers[:asked_paths], load),
        networks={**networks, **last},
        client=a.client,
        clock="virtual",
        seed=a.seed,
        answers="any" if a.answers_differ else "alike",
        files={**files, **more},
    )
    extra = _paths(inquiry, slice(asked_paths, None))
    also = DraftedRequests(extra, answers[asked_paths:], load) if wanted.also else None
    what = draft.workload.what
    title = " and ".join(TITLES[protocol] for protocol in protocols)
    question = f"Which setting serves {what} best over {title}, of {counted(len(wanted.candidates), 'combination')}?"
    text = study_text(draft, metric=a.metric, margin=a.margin, blocks=a.blocks, question=question, also=also)
    configs = out / CONFIGS
    _write(configs, wanted.candidates)
    if inquiry.body:
        upload = Upload(str(inquiry.body.resolve()), 0)
        (configs / upload.name).write_bytes(inquiry.body.read_bytes())
    return Tuning(
        h123="tuning/1",
        command=wanted.command,
        asked=wanted.asked,
        knobs={knob.name: list(knob.values) for knob in wanted.knobs},
        candidates={each.name: dict(each.values) for each in wanted.candidates},
        dropped=dropped,
        study=text if len(known) > 1 else "",
        networks=list(networks),
        held_out=list(last),
        metric=a.metric,
        margin=a.margin,
        blocks=a.blocks,
        seed=a.seed,
    )


def _paths(inquiry: Inquiry, part: slice) -> Inquiry:
    return dataclasses.replace(inquiry, site=dataclasses.replace(inquiry.site, paths=inquiry.site.paths[part]))


def _write(folder: Path, made: Sequence[Candidate]) -> None:
    folder.mkdir(0o700, parents=True, exist_ok=True)
    for each in made:
        if each.file and each.config is not None:
            (folder / each.file).write_text(each.config, encoding="utf-8")


def _servers(
    wanted: Requested, arguments: CompareArguments, inquiry: Inquiry
) -> tuple[dict[str, OwnServer], dict[str, str]]:
    """Return the servers of the candidates, and the reasons why some candidates have none. Raises UserError if the
    default has none."""
    servers, dropped = dict[str, OwnServer](), dict[str, str]()
    for each in wanted.candidates:
        environment = [f"{name}={value}" for name, value in each.environment.items()]
        try:
            mine = dataclasses.replace(arguments, environment=environment)
            servers[each.name] = server_started(each.command, mine, inquiry, wanted.subject)
        except UserError as error:
            if each.is_default:
                raise
            dropped[each.name] = error.message
    return servers, dropped


def _survey(
    servers: Mapping[str, OwnServer], inquiry: Inquiry, a: TuneArguments, made: Sequence[Candidate]
) -> tuple[dict[str, ServerAbilities], dict[str, str]]:
    """Return the abilities of the candidates that work, and the reasons why the others do not. Raises UserError if the
    default does not work."""
    say(f"Starting {counted(len(servers), 'candidate')}, to see what they answer ...")
    protocols = a.protocols.split(",") if a.protocols else None
    known, dropped = dict[str, ServerAbilities](), dict[str, str]()
    with scratch() as folder:
        tls, configs = folder / "tls", folder / CONFIGS
        _write(configs, made)
        campaign_certificate(tls, [SERVER_ADDRESS], seed=a.seed)

        def examine(name: str) -> ServerAbilities | UserError:
            place = folder / name
            place.mkdir()
            try:
                found = survey(servers[name], inquiry, place, {"uploads": configs, "tls": tls})
                return judge(found, inquiry, protocols)
            except UserError as error:
                return error

        first = examine(DEFAULT)
        if isinstance(first, UserError):
            raise UserError(f"the default does not work: {first.message}", first.remedy)
        known[DEFAULT] = first
        for line in abilities_words(first, inquiry):
            say(f"  {line}")
        others = [name for name in servers if name != DEFAULT]
        for name, result in zip(others, map(examine, others), strict=True):
            if isinstance(result, UserError):
                dropped[name] = " ".join(result.message.split())
                say(f"  {name} does not work, and is left out: {dropped[name]}")
            else:
                known[name] = result
    return known, dropped


def _protocols(a: TuneArguments, default: ServerAbilities) -> list[str]:
    """Return the protocols to measure."""
    spoken = [each.protocol for each in default.spoken]
    if a.protocols is None:
        return [max(spoken, key=PROTOCOLS.index)]
    return [protocol for protocol in PROTOCOLS if protocol in spoken]


def _unlike(
    name: str,
    abilities: ServerAbilities,
    default: ServerAbilities,
    protocols: Sequence[str],
    inquiry: Inquiry,
    a: TuneArguments,
) -> str | None:
    """Return why a candidate cannot be compared with the default, or None."""
    spoken = [each.protocol for each in abilities.spoken]
    if missing := [protocol for protocol in protocols if protocol not in spoken]:
        return f"it does not speak {TITLES[missing[0]]}"
    if name == DEFAULT or a.answers_differ:
        return None
    try:
        check_answers({DEFAULT: default, name: abilities}, protocols, inquiry)
    except UserError as error:
        return f"it answers differently: {error.message.partition(': ')[2]}"
    return None
