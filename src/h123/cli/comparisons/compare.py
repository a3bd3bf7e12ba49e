"""`h123 compare`: compares protocols on the user's own server, or two builds of it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.cli.answer_form import DetailsOption, JsonOption, QuietOption, answer_form
from h123.cli.options import (
    ADVANCED,
    NETWORKS,
    ByOption,
    Clock,
    ClockOption,
    FailIfOption,
    ForceOption,
    JobsOption,
    SeedOption,
    Transport,
    TransportOption,
    share,
)
from h123.cli.signals import signals_blocked


def command(
    server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]CMD",
            help="The command that starts your server, in the foreground, as in a shell but without one. Twice, with "
            "names, to compare two builds: --server base='./old --port 8443' --server new='./new --port 8443'. "
            "Left out: the server runs already, where --url says.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="What to ask for, as in https://localhost:8443/api/orders. Can be repeated: several of one server.",
            show_default=False,
        ),
    ] = None,
    har: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.har",
            help="Load a page that a browser recorded (*Save all as HAR*): what it asked the document's server for, in "
            "that order, each user's next visit when the last one has ended. --url then names your server alone.",
            show_default=False,
        ),
    ] = None,
    page: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Which page of the recording, from 1; a number that it lacks lists all. [default: that of its first "
            "request]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    hosts: Annotated[
        Literal["own", "all"],
        typer.Option(
            help="What of the recording to ask the server for: what its own host answered, or every host.",
            rich_help_panel=ADVANCED,
        ),
    ] = "own",
    networks: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|PATH,...",
            help="Networks to compare over: names (`h123 list networks`) or paths of network files, as in "
            f"home,./dsl.yaml. [default: {NETWORKS}; under the virtual clock without lan, unless the server's answers "
            "take a while]",
            show_default=False,
        ),
    ] = None,
    protocols: Annotated[
        str | None,
        typer.Option(metavar="h1,h2,h3", help="Only these. [default: all that the server speaks]", show_default=False),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="GET|POST",
            help="[default: GET; with --data POST]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME: VALUE'",
            help="Sent with every request. Can be repeated.",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The body of every request.",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="USERS[xREQUESTS]",
            help="Users at once, each with its next request (with --har, visit) when the last one is answered; and how "
            "many each makes. [default: 4, with --har 1; as many requests as take a second or two]",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            min=0.001,
            max=1_000_000,
            help="Requests a second of all users together, sent when they are due whether or not earlier ones are "
            "answered (open loop). [default: each user waits for its answer]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    sni: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name that TLS asks for. [default: the URL's]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    cacert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Refuse a server whose certificate these authorities (PEM) have not signed, that has run out, or is "
            "for another name. [default: of a server that --server starts it is not checked; of another, against the "
            "machine's own authorities]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Do not check the certificate.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    allow_remote_load: Annotated[
        bool,
        typer.Option(
            "--allow-remote-load",
            help="The server that --url names is on another machine, and you may send it thousands of requests.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    ready: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|tcp:PORT",
            help="The server is not ready before its output has TEXT, or this port of its host is open too, such as "
            "that of an application behind it. [default: when its own port is open]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="In the server's environment. Can be repeated.",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    cwd: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="The server's working directory.",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = Path(),
    client: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who asks: go, or load, which takes less of the processors that your server has too (`h123 install "
            "load`).",
            rich_help_panel=ADVANCED,
        ),
    ] = "go",
    congestion: Annotated[
        Literal["cubic", "reno", "bbr", "default"],
        typer.Option(
            help="Congestion control of TCP; of QUIC it is the server's.",
            rich_help_panel=ADVANCED,
        ),
    ] = "default",
    transport: TransportOption = None,
    clock: ClockOption = None,
    seed: SeedOption = None,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            parser=share,
            help="Run until every interval that answers the question is as narrow as ±W, such as 5%, instead of until "
            "the question is decided.",
            show_default=False,
        ),
    ] = None,
    max_blocks: Annotated[
        int | None,
        typer.Option(
            "--max-blocks",
            metavar="N",
            min=8,
            help="No more than N blocks. [default: 12; with --precision 200]",
            show_default=False,
        ),
    ] = None,
    answers_differ: Annotated[
        bool,
        typer.Option(
            "--answers-differ",
            help="Compare builds, or protocols, that answer the same request with other sizes or statuses. Without it "
            "they are refused, because what answers with less does less.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Campaign folder. [default: campaigns/compare-TIME]", show_default=False),
    ] = None,
    fail_if: FailIfOption = None,
    by: ByOption = "interval",
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml",
            help="Keep the study that is run, to change it.",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    force: ForceOption = False,
    details: DetailsOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare HTTP/1.1, HTTP/2 and HTTP/3 on your own server, or two builds of it.

    h123 starts the server in the lab as it is, finds out which protocols it speaks and what it answers, and measures it
    over emulated networks in paired blocks, until the question is decided, or what --fail-if asks (at most --max-blocks
    blocks). You need no file, and none of yours is changed. h123 checks the server's certificate only with --cacert.

    In the lab the server reaches nothing outside, not even a database. Have a script in --server start what it needs,
    or start everything yourself and leave out --server.

    Without --server, h123 sends requests to the server where it runs, at the address in --url: the clients are in the
    lab, behind the emulated networks, and a gateway passes on what they send. Nothing on the machine changes for that.

    Examples:

    `h123 compare --server './my-server --port 8443' --url https://localhost:8443/api/orders`

    `h123 compare --server base=./old --server new=./new --url https://localhost:8443/ --fail-if 'ttfb new/base > +5%'`
    """
    with signals_blocked():
        from h123.cli.comparisons.arguments import CompareArguments
        from h123.cli.comparisons.comparison import compare

    status = compare(
        CompareArguments(
            servers=server or [],
            urls=url or [],
            har=har,
            page=page,
            every_host=hosts == "all",
            networks=networks.split(",") if networks is not None else [],
            protocols=protocols.split(",") if protocols else None,
            method=method,
            headers=header or [],
            data=data,
            load=load,
            sni=sni,
            cacert=cacert,
            insecure=insecure,
            allow_remote_load=allow_remote_load,
            ready=ready,
            environment=env or [],
            cwd=cwd,
            client=client,
            congestion=congestion,
            transport=(transport or Transport.DEPLOYED).value,
            clock=(clock or Clock.WALL).value,
            rate=rate,
            seed=1 if seed is None else seed,
            max_blocks=max_blocks,
            precision=precision,
            answers_differ=answers_differ,
            jobs=jobs,
            out=out,
            save=save,
            force=force,
            fail_if=fail_if or [],
            by=by,
            form=answer_form(details=details, quiet=quiet, as_json=as_json),
        )
    )
    raise typer.Exit(status)
