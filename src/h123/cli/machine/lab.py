"""`h123 lab exec` and `h123 lab bench`: use the lab on this machine without a study."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.base.paths import lab_binary
from h123.cli import completion
from h123.cli.options import ForceOption


def execute(
    network: Annotated[
        str,
        typer.Option(
            help="Name of a network (listed by `h123 list networks`), or path of its YAML file.",
            autocompletion=completion.networks,
        ),
    ],
    server: Annotated[str, typer.Option(metavar="CMD", help="Shell command to run on the server host.")],
    client: Annotated[str, typer.Option(metavar="CMD", help="Shell command to run on the client host.")],
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the link's report to this file.", show_default=False),
    ] = None,
    force: ForceOption = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Random seed for the link.")] = 1,
    congestion: Annotated[str, typer.Option(help="TCP congestion control on both hosts.")] = "cubic",
    address: Annotated[
        Literal["ipv4", "ipv6"], typer.Option(help="IP version of the address in `H123_SERVER`.")
    ] = "ipv4",
) -> None:
    """Run any two commands across an emulated link.

    On both hosts, the environment variable `H123_SERVER` contains the server's address. The command prints the client's
    output and exits with the client's status.

    Examples:

    `h123 lab exec --network poor --server 'python3 -m http.server' --client 'curl -s http://$H123_SERVER:8000/'`

    `h123 lab exec --network home --address ipv6 --server 'iperf3 -s -1' --client 'iperf3 -c $H123_SERVER'`
    """
    from h123.base.files.output import check_output
    from h123.study import load_network, unrolled

    if json_file:
        check_output(json_file, force=force)
    # A file without a name needs no cleaning up, however the command ends.
    link = os.memfd_create("link.json", 0)
    os.write(link, json.dumps(unrolled(load_network(network)).link()).encode())
    command = ["exec", "--link", f"/proc/self/fd/{link}", "--seed", str(seed), "--congestion", congestion]
    command += ["--address", address]
    command += [f"--json={json_file}"] if json_file else []
    _become_lab([*command, "--server", server, "--client", client])


def bench() -> None:
    """Measure how closely the emulated link follows its configuration, on this machine when idle and when busy.

    Examples:

    `h123 lab bench`

    `h123 lab bench > bench.txt`
    """
    _become_lab(["bench"])


def _become_lab(arguments: list[str]) -> None:
    sys.stdout.flush()
    os.execv(lab_binary(), [str(lab_binary()), *arguments])
