"""`h123 compare`: compares protocols on the user's own server, or two builds of it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.cli.options import (
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
        ),
    ] = None,
    hosts: Annotated[
        Literal["own", "all"],
        typer.Option(help="What of the recording to ask the server for: what its own host answered, or every host."),
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
        str | None, typer.Option(metavar="GET|POST", help="[default: GET; with --data POST]", show_default=False)
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="'NAME: VALUE'", help="Sent with every request. Can be repeated.", show_default=False),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The body of every request.", show_default=False)
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
        ),
    ] = None,
    sni: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name that TLS asks for. [default: the URL's]", show_default=False),
    ] = None,
    cacert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Refuse a server whose certificate these authorities (PEM) have not signed, that has run out, or is "
            "for another name. [default: of a server that --server starts it is not checked; of another, against the "
            "machine's own authorities]",
            show_default=False,
        ),
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Do not check the certificate.")] = False,
    allow_remote_load: Annotated[
        bool,
        typer.Option(
            "--allow-remote-load",
            help="The server that --url names is on another machine, and you may send it thousands of requests.",
        ),
    ] = False,
    ready: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|tcp:PORT",
            help="The server is not ready before its output has TEXT, or this port of its host is open too, such as "
            "that of an application behind it. [default: when its own port is open]",
            show_default=False,
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="In the server's environment. Can be repeated.", show_default=False),
    ] = None,
    cwd: Annotated[
        Path, typer.Option(metavar="DIR", help="The server's working directory.", show_default=False)
    ] = Path(),
    client: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who asks: go, or load, which takes less of the processors that your server has too (`h123 install "
            "load`).",
        ),
    ] = "go",
    congestion: Annotated[
        Literal["cubic", "reno", "bbr", "default"],
        typer.Option(help="Congestion control of TCP; of QUIC it is the server's."),
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
        typer.Option(metavar="FILE.yaml", help="Keep the study that is run, to change it.", show_default=False),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Compare HTTP/1.1, HTTP/2 and HTTP/3 on your own server, or two builds of it.

    The server is started in the lab as it is, found out (what it speaks, what it answers), and measured over emulated
    networks in paired blocks until the question, or what --fail-if asks, is decided (at most --max-blocks blocks). No
    file is needed, and none of yours is changed. Its certificate is not checked, but with --cacert. Example:

    `h123 compare --server './my-server --port 8443' --url https://localhost:8443/api/orders`

    `h123 compare --server base='./old' --server new='./new' --url https://localhost:8443/ --networks home,./dsl.yaml
    --fail-if 'latency new/base > +5%' --fail-if 'latency_p99 new > 200ms'`

    In the lab the server reaches nothing outside, no database either. What it needs, a script in --server starts with
    it; or start all of it yourself and leave out --server.

    Without --server the server that --url names is asked where it runs: its clients are in the lab, behind the
    emulated networks, and a gateway passes on what they send. Nothing on the machine is changed for that.
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
        )
    )
    raise typer.Exit(status)
