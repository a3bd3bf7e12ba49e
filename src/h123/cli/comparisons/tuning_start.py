"""Starts `h123 tune`: makes and surveys the candidates, and drafts the study, which the rounds run in parts."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from h123.base.errors import UserError
from h123.base.files.scratch import scratch
from h123.base.terminal.console import say
from h123.base.units import counted
from h123.catalogue import OwnServer, catalogue, install
from h123.cli.comparisons.arguments import CompareArguments
from h123.cli.comparisons.inquiry import inquiry_of, load_of
from h123.cli.comparisons.servers import PROTOCOLS, server_started
from h123.cli.comparisons.surveyed import answers_of, check_client, networks_named, recorded, visits, with_abilities
from h123.cli.comparisons.tuning_arguments import Requested, TuneArguments
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
from h123.tuning import DEFAULT, Candidate, Tuning, changed, settings_words, study_text

CONFIGS = "configs"
"""The folder of the candidates' configurations, and of uploads, below the tuning's folder."""
_REQUESTS = 4
"""The default number of requests per trial."""


def begin(a: TuneArguments, wanted: Requested, out: Path) -> Tuning:
    """Survey every candidate, and draft the study. Writes the candidates' configurations into `out`. Raises UserError,
    for example if the default does not work."""
    check_client(a.client)
    arguments = a.compared([*wanted.urls, *wanted.also])
    page = recorded(arguments)
    inquiry, load = inquiry_of(arguments, page), load_of(arguments, [], page is not None)
    # More blocks tell more than more requests per trial, because the requests of a trial share its connection.
    needed = METRICS[a.metric].needs.requests
    fewest = -(-max(_REQUESTS, needed) // load.users)
    if load.requests and load.users * load.requests < needed:
        raise UserError(f"--load {a.load}: {a.metric} needs {needed} requests", remedy=f"--load {load.users}x{fewest}")
    load = dataclasses.replace(load, requests=load.requests or (None if page or load.rate else fewest), least=needed)
    (networks, files), (last, more) = networks_named(a.networks.split(",")), networks_named(a.held_out.split(","))
    for name in (name for name, network in {**networks, **last}.items() if not network.takes_time):
        raise UserError(
            f"network {name} has no delay and no rate: under the virtual clock nothing takes time over it",
            remedy="choose other networks (h123 list networks)",
        )
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
    say(f"Starting {counted(len(servers), 'candidate')}, to see how they respond ...")
    settings = {each.name: settings_words(changed(each.values, made[0].values)) for each in made}
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
                alone = DEFAULT in known and [*known[DEFAULT].protocols] == ["h3"]
                found = survey(servers[name], inquiry, place, {"uploads": configs, "tls": tls}, udp=alone)
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
                say(f"  {settings[name]} does not work, and is left out: {dropped[name]}")
            else:
                known[name] = result
    return known, dropped


def _protocols(a: TuneArguments, default: ServerAbilities) -> list[str]:
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
        return f"its responses differ: {error.message.partition(': ')[2]}"
    return None
