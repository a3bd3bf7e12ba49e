"""`h123 compare`: compares protocols on the user's own server, or two builds of it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.cli.answer_form import DetailsOption, JsonOption, QuietOption, answer_form
from h123.cli.comparisons.server_options import (
    ClientOption,
    CwdOption,
    DataOption,
    EnvOption,
    HarOption,
    HeaderOption,
    HostsOption,
    LoadOption,
    MethodOption,
    PageOption,
    RateOption,
    ReadyOption,
    SniOption,
    UrlOption,
)
from h123.cli.options import (
    ADVANCED,
    CLOCK,
    NETWORKS,
    SEED,
    TRANSPORT,
    ByOption,
    Clock,
    FailIfOption,
    ForceOption,
    JobsOption,
    Transport,
    share,
)


def command(
    server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]CMD",
            help="Command that starts your server in the foreground. Quote it as for a shell, although h123 runs it "
            "without one. To compare two builds, use the option twice, with names: --server base='./old --port 8443' "
            "--server new='./new --port 8443'. Without --server, the server must already be running at --url.",
            show_default=False,
        ),
    ] = None,
    url: UrlOption = None,
    har: HarOption = None,
    page: PageOption = None,
    hosts: HostsOption = "own",
    networks: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|PATH,...",
            help="Networks to compare over: names (`h123 list networks`) or paths of network files, such as "
            f"home,./dsl.yaml. [default: {NETWORKS}; under the virtual clock, lan is left out unless the server is "
            "slow to respond]",
            show_default=False,
        ),
    ] = None,
    protocols: Annotated[
        str | None,
        typer.Option(
            metavar="h1,h2,h3",
            help="Compare only these protocols. [default: all that the server speaks]",
            show_default=False,
        ),
    ] = None,
    method: MethodOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    load: LoadOption = None,
    rate: RateOption = None,
    sni: SniOption = None,
    cacert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="PEM file with the certificate authorities to check the server's certificate against. The "
            "certificate's name and expiry are checked too. [default: no check if --server starts the server; "
            "otherwise the machine's authorities]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Do not check the server's certificate.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    allow_remote_load: Annotated[
        bool,
        typer.Option(
            "--allow-remote-load",
            help="Confirm that you may send thousands of requests to the server in --url, which is on another machine.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    ready: ReadyOption = None,
    env: EnvOption = None,
    cwd: CwdOption = Path(),
    client: ClientOption = "go",
    congestion: Annotated[
        Literal["cubic", "reno", "bbr", "default"],
        typer.Option(
            help="Congestion controller for TCP. For QUIC, the server uses its own.",
            rich_help_panel=ADVANCED,
        ),
    ] = "default",
    transport: Annotated[
        Transport,
        typer.Option(help=f"{TRANSPORT} Your server's QUIC stack keeps its own settings.", rich_help_panel=ADVANCED),
    ] = Transport.DEPLOYED,
    clock: Annotated[Clock, typer.Option(help=CLOCK)] = Clock.WALL,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help=SEED, rich_help_panel=ADVANCED)] = 1,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            parser=share,
            help="Run until no interval that answers the question is wider than ±W, such as ±5%. Without "
            "--precision, the campaign ends when the question is decided.",
            show_default=False,
        ),
    ] = None,
    max_blocks: Annotated[
        int | None,
        typer.Option(
            "--max-blocks",
            metavar="N",
            min=8,
            help="Run at most N blocks. [default: 12, or 200 with --precision]",
            show_default=False,
        ),
    ] = None,
    answers_differ: Annotated[
        bool,
        typer.Option(
            "--answers-differ",
            help="Compare builds or protocols even if their responses to the same request differ in size or "
            "status. By default, h123 refuses, because a smaller response is less work.",
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
            help="Save the generated study as a file that you can edit.",
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

    h123 starts your server, unchanged, in an isolated network (the lab), finds out which protocols it speaks and how it
    responds, and measures it over emulated networks in paired blocks. It stops when the question (or --fail-if) is
    decided, or after --max-blocks blocks. You need no study file, and h123 changes none of your files.

    In the lab the server cannot reach anything outside, not even a database. Give --server a script that starts what it
    needs, or start everything yourself and leave out --server.

    Without --server, h123 measures the server that is already running at the address in --url. The clients are in the
    lab, behind the emulated networks, and a gateway forwards their requests. This changes nothing on the machine.

    Examples:

    `h123 compare --server './my-server --port 8443' --url https://localhost:8443/api/orders`

    `h123 compare --server base=./old --server new=./new --url https://localhost:8443/ --fail-if 'ttfb new/base > +5%'`
    """
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
            transport=transport.value,
            clock=clock.value,
            rate=rate,
            seed=seed,
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
