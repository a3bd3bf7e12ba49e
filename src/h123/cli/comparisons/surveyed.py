"""Prepares the study of a user's own server from the options and from what a survey found."""

from collections.abc import Mapping, Sequence

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.terminal.console import say
from h123.base.units import format_bytes
from h123.catalogue import OwnServer, clients_of_any_server
from h123.cli.comparisons.arguments import CompareArguments
from h123.probe import Answer, DraftedVisits, Inquiry, OfferedLoad, ServerAbilities, served
from h123.study import Network, RecordedPage, find_network, is_path, load_network, recorded_page

_LEVEL = 40
"""The maximum number of characters in a level's name."""


def recorded(arguments: CompareArguments) -> RecordedPage | None:
    """Return the recorded page that the options name, or None."""
    if arguments.har is not None:
        return recorded_page(arguments.har, page=arguments.page, every_host=arguments.every_host)
    if arguments.page is not None or arguments.every_host:
        raise UserError("--page and --hosts choose what to load from a recording", remedy="name it: --har FILE")
    return None


def networks_named(names: Sequence[str]) -> tuple[dict[str, Network], dict[str, str]]:
    """Return the networks by name, and the files of networks that were given as paths. Raises UserError."""
    networks, files = dict[str, Network](), dict[str, str]()
    for spelling in dict.fromkeys(name.strip() for name in names):
        path = find_network(spelling)
        network = load_network(spelling)
        name = network.name[:_LEVEL]
        if networks.setdefault(name, network) != network:
            raise UserError(
                f"--networks: two different networks are named {network.name!r}",
                remedy=f"change the `name` in one of their files, such as {path}",
            )
        if is_path(spelling):
            files[name] = str(path.resolve())
    return networks, files


def check_client(name: str) -> None:
    """Refuse a client that works only with servers of the catalogue."""
    able = clients_of_any_server()
    if name not in able:
        raise UserError(f"--client {name}: {choose(name, able)}")


def visits(
    page: RecordedPage, inquiry: Inquiry, answers: Sequence[Sequence[Answer]], load: OfferedLoad
) -> DraftedVisits:
    """Return the workload of visits to the page, as the server serves it."""
    had = {path: served(mine, path, inquiry) for path, mine in zip(inquiry.site.paths, answers, strict=True)}
    visit = page.as_served(had)
    for note in visit.notes:
        say(f"  {note}")
    site = visit.site
    say(f"  The page: {len(site.loads())} requests, {format_bytes(site.bytes)}, {max(site.depth())} deep")
    return DraftedVisits(site, load)


def with_abilities(server: OwnServer, judgement: ServerAbilities) -> OwnServer:
    """Return the server with the protocols that the survey found."""
    return server.model_copy(update={"protocols": list(judgement.protocols), "http3_port": judgement.http3_port})


def answers_of(judgements: Mapping[str, ServerAbilities], shared: Sequence[str], paths: int) -> list[list[Answer]]:
    """Return the responses of all servers over the shared protocols, for each path."""
    spoken = [each for judgement in judgements.values() for each in judgement.spoken if each.protocol in shared]
    return [[answer for each in spoken for answer in each.answers[number]] for number in range(paths)]
