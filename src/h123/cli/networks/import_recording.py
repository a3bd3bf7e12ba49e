"""`h123 network import`: makes a network from recordings of a link."""

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.base.errors import UserError
from h123.base.paths import checkout, typed
from h123.base.terminal.console import out_console, write
from h123.base.units import parse_delay, parse_duration
from h123.cli.options import ForceOption


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The recordings.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Network file to write. [default: networks/NAME.yaml, named after the recording]"
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=NAME:UNIT",
            help="Name (or number, if the columns have no names) and unit of a column that h123 does not recognise. "
            "KIND is time, rate, up or down (the rate in one direction), delay, up-delay or down-delay (one-way "
            "delays), rtt or loss. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    load: Annotated[
        Literal["light", "heavy"],
        typer.Option(
            help="Which of a CellReplay recording's two rates to use: the one measured under light or under heavy load."
        ),
    ] = "heavy",
    delay: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="One-way delay, if the recording contains none.", show_default=False),
    ] = None,
    step: Annotated[
        str, typer.Option(metavar="TIME", help="Average the recording over intervals of this length.")
    ] = "100ms",
    source: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Origin of the recording, to note in the network's file.", show_default=False
        ),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Licence of the recording, to note in the network's file.", show_default=False
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Make a network from recordings of a link, and print what the recordings lack.

    Recordings can be Mahimahi or CellReplay traces, JSON results of NDT7 or iperf3, or tables with a time column and
    columns such as `rate_mbit_s`, `delay_ms`, `rtt_ms` and `loss_percent`. If each direction has its own file, the file
    names must contain `up` and `down`. Each block of a campaign starts at a different point of the recording.

    Examples:

    `h123 network import lte.up lte.down --delay 20ms`

    `h123 network import norway_bus_1 --column time=1:s --column down=2:Mbit/s --out bus.yaml`
    """
    from h123.base.files.output import check_output, write_output
    from h123.study import ImportOptions, import_network

    name = re.sub(r"[^A-Za-z0-9._-]+", "-", (out or files[0]).stem).strip("-._")[:34] or "recorded"
    path = out or (checkout() or Path()) / "networks" / f"{name}.yaml"
    if path.suffix not in (".yaml", ".yml"):
        raise UserError(
            f"{path}: the name of a network's file must end in .yaml",
            remedy=f"write --out {typed(path.with_suffix('.yaml'))}",
        )
    try:
        parse_delay(delay or "0ms")
        seconds = parse_duration(step) / 1e9
    except ValueError as error:
        raise UserError(f"--delay, --step: {error}") from None
    if seconds < 0.001:
        raise UserError("--step: rows are at least 1ms long")
    check_output(path, force=force)
    options = ImportOptions(column or [], load, delay, seconds, source, licence)
    imported = import_network(files, name, options)
    places = {each: path if each == f"{name}.yaml" else path.with_name(each) for each in imported.files}
    for place in places.values():
        check_output(place, force=force)
    for each, text in reversed(imported.files.items()):
        write_output(places[each], text, force=force)
    write(out_console, f"{path}: {imported.summary()}")
    for note in imported.notes:
        write(out_console, note, style="dim")
