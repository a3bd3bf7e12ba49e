"""`h123 compare`: servers are found out, a study is drafted from what was found, and it is run."""

import dataclasses
import datetime as dt
import re
import shlex
import shutil
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal, cast

from cryptography import x509
from pydantic import ValidationError

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.files import sizes
from h123.base.files.output import check_output, write_output
from h123.base.files.scratch import scratch
from h123.base.files.textfile import check_file, read_bytes
from h123.base.paths import real
from h123.base.strict import describe
from h123.base.terminal.console import say
from h123.base.terminal.redaction import PRIVATE, hidden
from h123.base.units import format_bytes
from h123.catalogue import OwnServer, clients_of_any_server
from h123.cli import gating, running
from h123.cli.options import NETWORKS
from h123.execution import LocalPool
from h123.probe import (
    STUDY,
    TITLES,
    Answer,
    Draft,
    Inquiry,
    Known,
    Load,
    Requests,
    Site,
    Visits,
    addresses_of,
    check_answers,
    found_words,
    judge,
    served,
    site_of,
    survey,
    takes_a_connection,
)
from h123.study import (
    METRICS,
    Basis,
    Condition,
    Header,
    Network,
    RecordedPage,
    Study,
    find_network,
    is_path,
    load_network,
    load_study,
    recorded_page,
)

_PROTOCOLS: tuple[Literal["h1", "h2", "h3"], ...] = ("h1", "h2", "h3")
_NAMED = re.compile(r"(?P<name>[a-z][a-z0-9-]{0,30})=(?P<command>.+)", re.DOTALL)
_LOAD = re.compile(r"([1-9][0-9]{0,3})(?:x([1-9][0-9]{0,5}))?")
MOST_BLOCKS = 12
"""Unless --max-blocks says otherwise."""
_LEVEL = 40
"""Characters of a level's name, at most."""
_WAITS_NS = 5_000_000
"""An answer that takes longer over a plain veth may be one that the server waits for."""
_ONE = "server"
"""What a server without a name is called."""


@dataclass(frozen=True)
class Asked:
    """The arguments of `h123 compare`."""

    servers: Sequence[str]
    urls: Sequence[str]
    har: Path | None
    page: int | None
    every_host: bool
    networks: Sequence[str]
    """Empty: the usual ones."""
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


def compare(asked: Asked) -> int:
    """All of it; the exit status. Raises Interrupted, UserError."""
    conditions = gating.forbidding(asked.fail_if, asked.by)
    page = _recorded(asked)
    if page is None:
        _check_visits(conditions)
    _check_client(asked.client)
    _check_protocols(asked)
    if asked.save:
        _check_save(asked.save, force=asked.force)
    inquiry, load = _inquiry(asked, page), _load(asked, conditions, page is not None)
    servers = {name: _server(command, asked, inquiry) for name, command in _named(asked.servers, asked.cwd).items()}
    planned = _planned(asked, servers)
    if not servers:
        _check_elsewhere(asked, conditions)
        servers = {_ONE: _elsewhere(asked, inquiry)}
    networks, files = _networks(asked.networks or NETWORKS.split(","))
    known = {name: _find_out(name, server, inquiry, asked) for name, server in servers.items()}
    shared = _shared(known)
    if not asked.answers_differ:
        check_answers(known, shared, inquiry)
    answers = _answers(known, shared, len(inquiry.site.paths))
    if not asked.networks and asked.clock == "virtual":
        networks = _worth_measuring(networks, answers)
    draft = Draft(
        servers={name: _as_found(server, known[name]) for name, server in servers.items()},
        inquiry=inquiry,
        protocols=shared,
        asked=_visits(page, inquiry, answers, load) if page else Requests(inquiry, answers, load),
        networks=networks,
        client=asked.client,
        clock=asked.clock,
        congestion=asked.congestion,
        seed=asked.seed,
        require=conditions,
        transport=asked.transport,
        answers="any" if asked.answers_differ else "alike",
        files=files,
    )
    with scratch() as folder:
        study = folder / "compare.yaml"
        study.write_text(dataclasses.replace(draft, require=[]).text(), encoding="utf-8")
        _check(conditions, load_study(study), load)
        if asked.save:
            _keep(draft, asked.save, force=asked.force)
        study.write_text(draft.text(), encoding="utf-8")
        return running.run(dataclasses.replace(planned, study=str(study)))


def _worth_measuring(networks: dict[str, Network], answers: Sequence[Sequence[Answer]]) -> dict[str, Network]:
    """Under the virtual clock: those that take time; the others too where the server may wait, as the survey saw."""
    usual = max(median(answer.ns for answer in mine) for mine in answers)
    idle = [name for name, network in networks.items() if not network.takes_time]
    if not idle or usual > _WAITS_NS:
        return networks
    say(f"Left out: {', '.join(idle)}, where nothing takes time under the virtual clock (--networks includes it)")
    return {name: network for name, network in networks.items() if name not in idle}


def _recorded(asked: Asked) -> RecordedPage | None:
    if asked.har is not None:
        return recorded_page(asked.har, page=asked.page, every_host=asked.every_host)
    if asked.page is not None or asked.every_host:
        raise UserError("--page and --hosts choose what to load of a recording", remedy="name it: --har FILE")
    return None


def _check(conditions: Sequence[Condition], study: Study, load: Load) -> None:
    """Refuse those that the study will have no value for."""
    for condition in conditions:
        if fault := study.unheld(condition, study.compare.pairs):
            few = METRICS[condition.metric].needs.requests > load.users * (load.requests or 10**6)
            enough = -(-METRICS[condition.metric].needs.requests // load.users)
            raise UserError(f"--fail-if: {fault}", remedy=f"--load {load.users}x{enough}" if few else None)


def _networks(given: Sequence[str]) -> tuple[dict[str, Network], dict[str, str]]:
    """By name; and the files of those that are given by a path. Raises UserError."""
    networks, files = dict[str, Network](), dict[str, str]()
    for written in dict.fromkeys(name.strip() for name in given):
        path = find_network(written)
        network = load_network(written)
        name = network.name[:_LEVEL]
        if networks.setdefault(name, network) != network:
            raise UserError(
                f"--networks: two different networks are named {network.name!r}",
                remedy=f"give one another `name` in its file, such as {path}",
            )
        if is_path(written):
            files[name] = str(path.resolve())
    return networks, files


def _check_client(name: str) -> None:
    """Refuse one that asks only servers of the catalogue."""
    able = clients_of_any_server()
    if name not in able:
        raise UserError(f"--client {name}: {choose(name, able)}")


def _check_protocols(asked: Asked) -> None:
    """Refuse those that nobody speaks, and a single one where protocols are what is compared."""
    for protocol in asked.protocols or ():
        if protocol not in _PROTOCOLS:
            raise UserError(f"--protocols {protocol}: {choose(protocol, _PROTOCOLS)}")
    if asked.protocols and len(set(asked.protocols)) == 1 and len(asked.servers) < 2:
        raise UserError(
            f"--protocols {asked.protocols[0]}: a single one is compared with nothing",
            remedy="name two or more, or compare two builds over it: --server base='...' --server new='...'",
        )


def _check_save(path: Path, *, force: bool) -> None:
    check_output(path, force=force)
    if not path.parent.is_dir():
        raise UserError(f"--save {path}: there is no folder {path.parent}", remedy="make it, or name another one")


def _check_elsewhere(asked: Asked, conditions: Sequence[Condition]) -> None:
    """Refuse what nobody can know, or do, of a server that is not started here."""
    if asked.clock == "virtual":
        raise UserError(
            "a server that runs elsewhere lives in real time: the virtual clock is for those that h123 starts",
            remedy="leave --clock out, or give the command that starts it: --server CMD",
        )
    if asked.environment or asked.ready:
        raise UserError("--env and --ready are for a server that h123 starts: give its command with --server CMD")
    for condition in conditions:
        if METRICS[condition.metric].of_the_server:
            raise UserError(
                f"--fail-if: {condition.metric} of a server that runs elsewhere cannot be known",
                remedy="give the command that starts it: --server CMD",
            )


def _elsewhere(asked: Asked, inquiry: Inquiry) -> OwnServer:
    """The server that the URL names, where it is now. Raises UserError."""
    site = inquiry.site
    shared = {"may_load": asked.allow_remote_load, "host": site.host, "sni": asked.sni, "protocols": list(_PROTOCOLS)}
    known = [OwnServer.model_validate({"address": address, **shared}) for address in addresses_of(site)]
    for server in known:
        server.check()  # before a single packet is sent
    # A name such as localhost may have several, and the server listen at one of them.
    server = next((one for one in known if takes_a_connection(one.address or "", site.port)), known[0])
    say(f"{site.host} is {server.address} here; the server there is asked as it runs")
    return server


def _check_visits(conditions: Sequence[Condition]) -> None:
    """Refuse what is asked of visits where there are none."""
    for condition in conditions:
        if METRICS[condition.metric].of_visits:
            raise UserError(f"--fail-if: {condition.metric} is of visits of a page", remedy="record one: --har FILE")


def _planned(asked: Asked, servers: Mapping[str, OwnServer]) -> running.Asked:
    """What `h123 run` does with the study, once that is known. Raises UserError where the folder takes no such
    campaign: before any server is started."""
    out = asked.out or Path("campaigns") / f"compare-{dt.datetime.now():%Y%m%d-%H%M%S}"
    commands = {name: shlex.join(shlex.split(server.command or "")) for name, server in servers.items()}
    if there := running.begun_in(out):
        begun = {name: server.get("command") or "" for name, server in there.study.get("servers", {}).items()}
        if there.study["name"] != STUDY or begun != (commands or {_ONE: ""}):
            raise running.of_another_study(out)
    planned = running.Asked(
        out=out,
        until_decided=asked.precision is None,
        precision=asked.precision,
        max_blocks=asked.max_blocks or (MOST_BLOCKS if asked.precision is None else None),
        jobs=asked.jobs,
    )
    running.check(planned)
    return planned


def _keep(draft: Draft, path: Path, *, force: bool) -> None:
    try:
        write_output(path, draft.text(), force=force, mode=PRIVATE if draft.private else 0o666)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    say(f"Study: {path}")


def _visits(page: RecordedPage, inquiry: Inquiry, answers: Sequence[Sequence[Answer]], load: Load) -> Visits:
    """Of the page as the server has it."""
    had = {path: served(mine, path, inquiry) for path, mine in zip(inquiry.site.paths, answers, strict=True)}
    found = page.as_served(had)
    for note in found.notes:
        say(f"  {note}")
    site = found.site
    say(f"  The page: {len(site.loads())} requests, {format_bytes(site.bytes)}, {max(site.depth())} deep")
    return Visits(site, load)


def _place(asked: Asked, page: RecordedPage | None) -> Site:
    """The server, and what it is asked for."""
    if page is None:
        return site_of(asked.urls)
    if len(asked.urls) > 1:
        raise UserError("with --har one --url names the server, and the recording what it is asked for")
    if not asked.urls and not page.address.startswith("https://"):
        raise UserError(
            f"--har: the page was recorded from {page.address[:100]}",
            remedy="name your server: --url https://localhost:8443/",
        )
    site = site_of(asked.urls or [page.address])
    if asked.urls and site.paths != ("/",):
        raise UserError(
            f"--url {hidden(asked.urls[0])}: with --har it names the server alone, the recording what to ask it for",
            remedy="leave out its path",
        )
    return dataclasses.replace(site, paths=page.paths)


def _inquiry(asked: Asked, page: RecordedPage | None) -> Inquiry:
    method = asked.method or ("POST" if asked.data else "GET")
    if method not in ("GET", "POST"):
        raise UserError(f"--method {method}: {choose(method, ['GET', 'POST'])}")
    if page and method == "POST":
        raise UserError("the parts of a page are asked for by GET: --har goes without --method POST and --data")
    if (method == "POST") != (asked.data is not None):
        raise UserError("a POST needs --data FILE, and only a POST has it", remedy="--method POST --data FILE")
    if asked.data:
        check_file(asked.data, sizes.UPLOAD)
        if not asked.data.stat().st_size:
            raise UserError(f"--data {asked.data}: it is empty", remedy="name a file with the body to send")
    headers = tuple(_header(text) for text in asked.headers)
    if asked.cacert and asked.insecure:
        raise UserError("--cacert and --insecure exclude each other: is the certificate to be checked?")
    if asked.cacert:
        _check_authorities(asked.cacert)
    return Inquiry(
        _place(asked, page),
        cast(Literal["GET", "POST"], method),
        headers,
        asked.data,
        authorities=asked.cacert or _trusted_here(asked),
        page=page is not None,
    )


def _trusted_here(asked: Asked) -> Path | None:
    """The machine's own authorities, for a server that runs elsewhere: nobody else says who it is."""
    if asked.servers or asked.insecure:
        return None
    known = ssl.get_default_verify_paths().cafile
    if known is None:
        raise UserError(
            "this machine has no certificates of authorities to check the server's against",
            remedy="--cacert FILE, or --insecure; on Debian: apt install ca-certificates",
        )
    return Path(known)


def _check_authorities(path: Path) -> None:
    try:
        x509.load_pem_x509_certificates(read_bytes(path, sizes.AUTHORITIES))
    except ValueError:
        raise UserError(
            f"--cacert {path}: there is no certificate in it", remedy="a file of certificates in PEM, as curl takes it"
        ) from None


def _header(text: str) -> Header:
    name, colon, value = text.partition(":")
    if not colon:  # what it has may be a password, so it is not repeated
        raise UserError("--header: one has no colon", remedy="write it as 'NAME: VALUE', as in 'accept: text/html'")
    try:
        return Header(name=name.strip(), value=value.strip())
    except ValidationError as invalid:
        fault = describe({**invalid.errors()[0], "input": ""}, "")
        raise UserError(f"--header {name.strip()[:100]!r}: {fault}") from None


def _load(asked: Asked, conditions: Sequence[Condition], page: bool) -> Load:
    text = asked.load or ("1" if page else "4")
    found = _LOAD.fullmatch(text)
    if not found:
        raise UserError(f"--load {text!r}: write USERS or USERSxREQUESTS, such as 4 or 4x25")
    if asked.rate is not None and page:
        raise UserError("visits of a page follow one another, so --rate does not go with --har")
    return Load(
        int(found[1]),
        int(found[2]) if found[2] else None,
        rate=asked.rate,
        least=max((METRICS[one.metric].needs.requests for one in conditions), default=0),
        virtual=asked.clock == "virtual",
    )


def _named(commands: Sequence[str], folder: Path) -> dict[str, str]:
    """Servers by name, in their order."""
    if len(commands) == 1:
        found = None if _is_program(commands[0], folder) else _NAMED.fullmatch(commands[0])
        # `PORT=8443 ./server` is how shells name variables: a name for a server is written in small letters.
        return {found["name"]: found["command"]} if found else {_ONE: commands[0]}
    named = [_NAMED.fullmatch(command) for command in commands]
    if len(commands) > 2 or not all(named):
        raise UserError(
            "several --server need names, and there can be two", remedy="--server base='...' --server new='...'"
        )
    found_names = {one["name"]: one["command"] for one in named if one}
    if len(found_names) < len(commands):
        raise UserError("both --server have the same name", remedy="--server base='...' --server new='...'")
    return found_names


def _is_program(command: str, folder: Path) -> bool:
    """Whether it begins with a program that is there: a path may have a = too."""
    try:
        program = shlex.split(command)[0]
        return (folder / program).is_file() if "/" in program else shutil.which(program) is not None
    except (ValueError, IndexError, OSError):
        return False


def _server(command: str, asked: Asked, inquiry: Inquiry) -> OwnServer:
    values = {
        "command": command,
        "folder": str(real(asked.cwd)),
        "environment": _environment(asked.environment),
        "host": inquiry.site.host,
        "sni": asked.sni,
        "protocols": list(_PROTOCOLS),
        "ready": asked.ready,
    }
    try:
        server = OwnServer.model_validate(values)
    except ValidationError as invalid:
        fault = invalid.errors()[0]
        raise UserError(f"--server: {describe(fault, '.'.join(map(str, fault['loc'])))}") from None
    server.check()
    return server


def _environment(given: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if wrong := [text for text, (name, sign, _) in zip(given, pairs, strict=True) if not (name and sign)]:
        raise UserError(f"--env: {len(wrong)} of {len(pairs)} are not written as NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _find_out(name: str, server: OwnServer, inquiry: Inquiry, asked: Asked) -> Known:
    say(f"Finding out what {'the server' if name == _ONE else name} speaks and answers ...")
    with scratch() as folder:
        inquired = survey(server, inquiry, folder, LocalPool().engine)
    known = judge(inquired, inquiry, asked.protocols)
    for line in found_words(known, inquiry):
        say(f"  {line}")
    return known


def _shared(known: Mapping[str, Known]) -> list[str]:
    """The protocols that all servers speak; of one server at least two."""
    spoken = [[each.protocol for each in one.spoken] for one in known.values()]
    shared = [protocol for protocol in _PROTOCOLS if all(protocol in one for one in spoken)]
    if len(known) == 1 and len(shared) == 1:
        raise UserError(
            f"the server speaks {TITLES[shared[0]]} alone on that port, so there is nothing to compare",
            remedy="turn HTTP/2 or HTTP/3 on (HTTP/3 takes the UDP port of the same number), or compare two builds: "
            "--server base='...' --server new='...'",
        )
    if not shared:
        raise UserError("the servers have no protocol in common, so there is nothing to compare")
    return list(shared)


def _as_found(server: OwnServer, known: Known) -> OwnServer:
    """The server with what it was found to speak."""
    return server.model_copy(update={"protocols": list(known.protocols), "http3_port": known.http3_port})


def _answers(known: Mapping[str, Known], shared: Sequence[str], paths: int) -> list[list[Answer]]:
    spoken = [each for one in known.values() for each in one.spoken if each.protocol in shared]
    return [[answer for each in spoken for answer in each.answers[number]] for number in range(paths)]
