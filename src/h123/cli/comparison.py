"""The command `compare`: a person's own server, as it is, or two builds of it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.cli.options import (
    NETWORKS,
    Clock,
    ClockOption,
    FolderArgument,
    ForceOption,
    JobsOption,
    SeedOption,
    Transport,
    TransportOption,
    share,
)
from h123.cli.signals import held_back

app = typer.Typer()
FAIL_IF = typer.Option(
    "--fail-if",
    metavar="CONDITION",
    help="Exit status 99 if it is so, 98 if that is not decided, 0 if it is not. A ratio or a change of two levels "
    "('latency new/base > 1.05', 'latency_p99 new/base > +10%'), or a limit for one ('latency new > 200ms'). Can be "
    "repeated.",
    show_default=False,
)
FailIfOption = Annotated[list[str] | None, FAIL_IF]
ByOption = Annotated[
    Literal["interval", "estimate"],
    typer.Option(
        "--by",
        help="What decides --fail-if: interval, a ratio's whole interval must be beyond the bound to fail, and within "
        "it to pass; estimate, its estimate alone, which near the bound is a matter of chance.",
    ),
]


@app.command()
def compare(
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
    with held_back():
        from h123.cli import comparing

    status = comparing.compare(
        comparing.Asked(
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


@app.command()
def gate(campaign: FolderArgument, fail_if: FailIfOption = None, by: ByOption = "interval") -> None:
    """Hold a finished campaign against conditions, for a build that must not get slower.

    Exit status 0: passed; 99: failed, somewhere the whole interval is beyond a bound; 98: undecided, an interval lies
    on both sides. Without --fail-if the conditions are those that the campaign's study requires. Writes gate.json,
    gate.xml (JUnit), gate.md, gate-benchmark.json (github-action-benchmark) and gate.prom (OpenMetrics) into the
    campaign's folder. Example:

    `h123 gate my-campaign --fail-if 'latency new/base > +5%' --fail-if 'latency_p99 new > 200ms'`

    A condition may name any metric that the campaign's trials have (docs/contracts/metrics.md), whether or not the
    study names it, and any two levels. Nothing passes while trials are missing or files are damaged.
    """
    with held_back():
        from h123.cli import gating

    raise typer.Exit(gating.gate(campaign, gating.forbidding(fail_if or [], by)))


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE_DIR", help="Campaign folder.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="AFTER_DIR", help="Campaign folder.", show_default=False)],
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="As in 'latency after/before > 1.05' or '> +5%': exit status 99 if a ratio is so, 98 if that is not "
            "decided, 0 if none is. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    by: ByOption = "interval",
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to write to. [default: AFTER_DIR/diff]", show_default=False),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Compare two campaigns of two days or machines, treatment by treatment: AFTER_DIR over BEFORE_DIR.

    They are not paired: what the day and the machine changed is in the ratios, and the intervals are wider than those
    of one campaign with both builds (`h123 compare` with two --server), which is the better way wherever it can be
    gone. Says what differs between the two, and refuses where they have no treatment in common. Writes diff.json, and
    with --fail-if what `h123 gate` does.
    """
    with held_back():
        from h123.cli import differing, gating

    raise typer.Exit(differing.diff(before, after, gating.forbidding(fail_if or [], by), out, force=force))
