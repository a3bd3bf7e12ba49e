"""Compares a user's own servers: surveys them, drafts a study from the findings, and runs it."""

import dataclasses
import datetime as dt
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from h123.base.errors import UserError
from h123.base.files.output import check_output, write_output
from h123.base.files.scratch import scratch
from h123.base.terminal.console import quietly, say
from h123.base.terminal.redaction import PRIVATE
from h123.catalogue import OwnServer
from h123.cli.answer_form import AnswerForm
from h123.cli.campaigns import requirements
from h123.cli.campaigns.run import run
from h123.cli.campaigns.run_arguments import RunArguments, campaign_in, check, of_another_study
from h123.cli.comparisons.arguments import CompareArguments
from h123.cli.comparisons.inquiry import inquiry_of, load_of
from h123.cli.comparisons.servers import (
    ONE,
    PROTOCOLS,
    check_protocols,
    check_remote_server,
    named_servers,
    remote_server,
    server_started,
)
from h123.cli.comparisons.surveyed import (
    answers_of,
    check_client,
    networks_named,
    recorded,
    visits,
    with_abilities,
)
from h123.cli.options import NETWORKS
from h123.probe import (
    STUDY,
    TITLES,
    Answer,
    Draft,
    DraftedRequests,
    Inquiry,
    OfferedLoad,
    ServerAbilities,
    abilities_words,
    check_answers,
    judge,
    survey,
)
from h123.study import (
    METRICS,
    Condition,
    Network,
    Study,
    load_study,
)

LINES = 25
"""The maximum number of lines of an answer on one screen."""
MOST_BLOCKS = 12
"""The default of --max-blocks."""
_LEVEL = 40
"""The maximum number of characters in a level's name."""
_WAITS_NS = 5_000_000
"""The response time in ns, over a plain veth, above which a server may be waiting for something."""


def compare(arguments: CompareArguments) -> int:
    """Run the whole command and return the exit status. Raises Interrupted, UserError."""
    with quietly(is_quiet=arguments.form is AnswerForm.TABLE):
        return _compare(arguments)


def _compare(arguments: CompareArguments) -> int:
    conditions = requirements.forbidding(arguments.fail_if, arguments.by)
    page = recorded(arguments)
    if page is None:
        _check_visits(conditions)
    check_client(arguments.client)
    _check_protocols(arguments)
    if arguments.save:
        _check_save(arguments.save, force=arguments.force)
    inquiry, load = inquiry_of(arguments, page), load_of(arguments, conditions, page is not None)
    servers = {
        name: server_started(command, arguments, inquiry)
        for name, command in named_servers(arguments.servers, arguments.cwd).items()
    }
    _check_levels(conditions, arguments, list(servers))
    if page is None:
        _check_requests(conditions, load)
    planned = _planned(arguments, servers)
    networks, files = networks_named(arguments.networks or NETWORKS.split(","))
    if not servers:
        check_remote_server(arguments, conditions)
        servers = {ONE: remote_server(arguments, inquiry)}
    servers_known = {name: _find_out(name, server, inquiry, arguments) for name, server in servers.items()}
    shared = _shared(servers_known)
    if not arguments.answers_differ:
        check_answers(servers_known, shared, inquiry)
    answers = answers_of(servers_known, shared, len(inquiry.site.paths))
    if not arguments.networks and arguments.clock == "virtual":
        networks = _worth_measuring(networks, answers)
    draft = Draft(
        servers={name: with_abilities(server, servers_known[name]) for name, server in servers.items()},
        inquiry=inquiry,
        protocols=shared,
        workload=visits(page, inquiry, answers, load) if page else DraftedRequests(inquiry, answers, load),
        networks=networks,
        client=arguments.client,
        clock=arguments.clock,
        congestion=arguments.congestion,
        seed=arguments.seed,
        require=conditions,
        transport=arguments.transport,
        answers="any" if arguments.answers_differ else "alike",
        files=files,
    )
    with scratch() as folder:
        study = folder / "compare.yaml"
        study.write_text(dataclasses.replace(draft, require=[]).text(), encoding="utf-8")
        _check(conditions, load_study(study))
        if arguments.save:
            _keep(draft, arguments.save, force=arguments.force)
        study.write_text(draft.text(), encoding="utf-8")
        return run(dataclasses.replace(planned, study=str(study)))


def _worth_measuring(networks: dict[str, Network], answers: Sequence[Sequence[Answer]]) -> dict[str, Network]:
    """Return the networks worth measuring under the virtual clock: those over which packets take time, or all networks
    if the survey shows that the server may wait before it responds."""
    usual = max(median(answer.ns for answer in mine) for mine in answers)
    idle = [name for name, network in networks.items() if not network.takes_time]
    if not idle or usual > _WAITS_NS:
        return networks
    say(f"Left out: {', '.join(idle)}, where requests take no time under the virtual clock (--networks includes it)")
    return {name: network for name, network in networks.items() if name not in idle}


def _check_levels(conditions: Sequence[Condition], arguments: CompareArguments, servers: Sequence[str]) -> None:
    """Refuse conditions that no comparison of these servers, or of a single server's protocols, can decide."""
    levels = servers if len(servers) > 1 else list(dict.fromkeys(arguments.protocols or PROTOCOLS))
    for condition in conditions:
        if fault := condition.fault(levels, {arguments.clock}):
            raise UserError(f"--fail-if: {fault}")


def _check_requests(conditions: Sequence[Condition], load: OfferedLoad) -> None:
    """Refuse conditions on metrics that need more requests in a trial than the load has."""
    for condition in conditions:
        needed = METRICS[condition.metric].needs.requests
        if load.requests and needed > load.users * load.requests:
            raise UserError(
                f"--fail-if: {condition.metric} needs {needed} requests in a trial",
                remedy=f"--load {load.users}x{-(-needed // load.users)}",
            )


def _check(conditions: Sequence[Condition], study: Study) -> None:
    """Refuse conditions on values that the study will not measure, for example on a protocol that the server does not
    speak."""
    for condition in conditions:
        if fault := study.unheld(condition, study.compare.pairs):
            raise UserError(f"--fail-if: {fault}")


def _check_protocols(arguments: CompareArguments) -> None:
    """Refuse unknown protocols, or a single protocol if protocols are to be compared."""
    check_protocols(arguments.protocols or ())
    if arguments.protocols and len(set(arguments.protocols)) == 1 and len(arguments.servers) < 2:
        raise UserError(
            f"--protocols {arguments.protocols[0]}: there is nothing to compare a single protocol with",
            remedy="name two or more, or compare two builds over it: --server base='...' --server new='...'",
        )


def _check_save(path: Path, *, force: bool) -> None:
    check_output(path, force=force)
    if not path.parent.is_dir():
        raise UserError(f"--save {path}: there is no folder {path.parent}", remedy="make it, or name another one")


def _check_visits(conditions: Sequence[Condition]) -> None:
    """Refuse conditions about visits if the workload has none."""
    for condition in conditions:
        if METRICS[condition.metric].of_visits:
            raise UserError(
                f"--fail-if: {condition.metric} measures page visits", remedy="give a recorded page with --har FILE"
            )


def _planned(arguments: CompareArguments, servers: Mapping[str, OwnServer]) -> RunArguments:
    """Return the arguments with which `h123 run` will run the study. Raises UserError, before any server starts, if the
    campaign cannot run in its folder."""
    out = arguments.out or Path("campaigns") / f"compare-{dt.datetime.now():%Y%m%d-%H%M%S}"
    commands = {name: shlex.join(shlex.split(server.command or "")) for name, server in servers.items()}
    if there := campaign_in(out):
        commands_then = {name: server.get("command") or "" for name, server in there.study.get("servers", {}).items()}
        if there.study["name"] != STUDY or commands_then != (commands or {ONE: ""}):
            raise of_another_study(out)
    planned = RunArguments(
        out=out,
        until_decided=arguments.precision is None,
        precision=arguments.precision,
        max_blocks=arguments.max_blocks or (MOST_BLOCKS if arguments.precision is None else None),
        jobs=arguments.jobs,
        form=arguments.form,
        most_lines=LINES,
    )
    check(planned)
    return planned


def _keep(draft: Draft, path: Path, *, force: bool) -> None:
    try:
        write_output(path, draft.text(), force=force, mode=PRIVATE if draft.private else 0o666)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    say(f"Study: {path}")


def _find_out(name: str, server: OwnServer, inquiry: Inquiry, arguments: CompareArguments) -> ServerAbilities:
    say(f"Finding out which protocols {'the server' if name == ONE else name} speaks and how it responds ...")
    with scratch() as folder:
        inquired = survey(server, inquiry, folder)
    judgement = judge(inquired, inquiry, arguments.protocols)
    for line in abilities_words(judgement, inquiry):
        say(f"  {line}")
    return judgement


def _shared(judgements: Mapping[str, ServerAbilities]) -> list[str]:
    """Return the protocols that all servers speak. Raises UserError if there is none, or if a single server speaks only
    one."""
    spoken = [[each.protocol for each in judgement.spoken] for judgement in judgements.values()]
    shared = [protocol for protocol in PROTOCOLS if all(protocol in judgement for judgement in spoken)]
    if len(judgements) == 1 and len(shared) == 1:
        raise UserError(
            f"the server speaks only {TITLES[shared[0]]} on that port, so there is nothing to compare",
            remedy="turn on HTTP/2 or HTTP/3 (HTTP/3 uses the UDP port with the same number), or compare two builds: "
            "--server base='...' --server new='...'",
        )
    if not shared:
        raise UserError("the servers have no protocol in common, so there is nothing to compare")
    return list(shared)
