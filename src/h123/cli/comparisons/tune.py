"""`h123 tune`: tries settings of the user's own server, and shows which ones serve a workload best."""

from pathlib import Path
from typing import Annotated

import typer

from h123.base.errors import UserError
from h123.base.terminal.console import out_console
from h123.cli.answer_form import DetailsOption, JsonOption, QuietOption, answer_form
from h123.cli.comparisons.server_options import (
    BLOCKS,
    MARGIN,
    NETWORKS,
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
from h123.cli.options import ADVANCED, SEED, AddressOption, EngineOption, JobsOption, share


def command(
    server: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="Command that starts your server in the foreground, with placeholders such as {{ window }} for "
            "knobs, and {{ config }} for the path of its configuration file. [default: the command in the --knobs "
            "file]",
            show_default=False,
        ),
    ] = None,
    knob: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME={a,b,c}",
            help="A setting and the values to try, the default first. h123 replaces {{ NAME }} in --config, "
            "--server and --env with the value. NAME alone takes the values from the --knobs file. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Template of the server's configuration file, in Jinja syntax.", show_default=False
        ),
    ] = None,
    knobs: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|PATH",
            help="File with a server's knobs (settings to try) and, optionally, the command that starts the server. "
            "`h123 tune --list` lists such files.",
            show_default=False,
        ),
    ] = None,
    url: UrlOption = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="Another URL (such as that of a small file) whose requests must not become slower. Only the last "
            "round measures them. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    har: HarOption = None,
    page: PageOption = None,
    hosts: HostsOption = "own",
    networks: Annotated[
        str,
        typer.Option(metavar="NAME|PATH,...", help="Networks over which all rounds but the last compare the settings."),
    ] = NETWORKS,
    held_out_networks: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|PATH,...",
            help="Networks of the last round. [default: those of --networks, with different packet losses]",
            show_default=False,
        ),
    ] = None,
    protocols: Annotated[
        str | None,
        typer.Option(
            metavar="h1,h2,h3",
            help="HTTP versions of the requests. [default: the highest that the server speaks]",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Metric to improve; `h123 explain NAME` describes it. [default: latency, or page_complete with --har]",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    margin: Annotated[
        float, typer.Option(metavar="M", parser=share, help="Ignore differences that are smaller than M.")
    ] = MARGIN,  # type: ignore[assignment]
    blocks: Annotated[
        int, typer.Option(min=6, max=200, metavar="N", help="Number of blocks in the last round.")
    ] = BLOCKS,
    load: LoadOption = None,
    rate: RateOption = None,
    method: MethodOption = None,
    header: HeaderOption = None,
    data: DataOption = None,
    sni: SniOption = None,
    ready: ReadyOption = None,
    env: EnvOption = None,
    cwd: CwdOption = Path(),
    client: ClientOption = "go",
    seed: Annotated[int, typer.Option(min=0, metavar="N", help=SEED, rich_help_panel=ADVANCED)] = 1,
    answers_differ: Annotated[
        bool,
        typer.Option(
            "--answers-differ",
            help="Keep candidates whose response to the same request differs from the default's in size or status.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    jobs: JobsOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the rounds. If it holds rounds of the same tuning, they are resumed. [default: "
            "campaigns/tune-TIME]",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="List the knob files or, with --knobs, the knobs in that file.")
    ] = False,
    details: DetailsOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Try settings of your own server, and show which ones serve your workload best.

    h123 measures every combination of the knobs' values under the virtual clock, in rounds: each round keeps the better
    half. The last round compares the best combination with the default under new packet losses, so luck in earlier
    rounds cannot affect its result. After Ctrl-C or a crash, `h123 tune --out DIR` resumes the tuning.

    Examples:

    `h123 tune --knobs nginx --knob http3_stream_buffer_size --knob quic_gso --networks cellular,home`

    `h123 tune --server './my-server --window {{ w }}' --knob 'w={64k,1m}' --url https://localhost:8443/1MB.bin`
    """
    from h123.cli.comparisons.tuning import describe, tune
    from h123.cli.comparisons.tuning_arguments import TuneArguments
    from h123.study import OF_REQUESTS, OF_VISITS

    if show:
        for line in describe(knobs):
            out_console.print(line, soft_wrap=True)
        return
    if address is not None and engine != "ray":
        raise UserError("--address needs --engine ray", remedy="add --engine ray, or leave --address out")
    status = tune(
        TuneArguments(
            server=server,
            knobs=knob or [],
            config=config,
            knob_file=knobs,
            urls=url or [],
            also=also or [],
            har=har,
            page=page,
            hosts=hosts,
            networks=networks,
            held_out=held_out_networks or networks,
            protocols=protocols,
            metric=metric or (OF_VISITS if har else OF_REQUESTS)[0].metrics[0],
            margin=margin,
            blocks=blocks,
            load=load,
            rate=rate,
            method=method,
            headers=header or [],
            data=data,
            sni=sni,
            ready=ready,
            environment=env or [],
            cwd=cwd,
            client=client,
            seed=seed,
            answers_differ=answers_differ,
            jobs=jobs,
            engine=engine,
            address=address,
            out=out,
            form=answer_form(details=details, quiet=quiet, as_json=as_json),
        )
    )
    raise typer.Exit(status)
