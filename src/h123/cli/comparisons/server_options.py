"""Defines the options that describe the user's own server and its requests, for `h123 compare` and `h123 tune`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from h123.cli.options import ADVANCED

BLOCKS, MARGIN, NETWORKS = 12, "3%", "cellular"
"""The defaults of `h123 tune`: the blocks of the last round, the margin, and the networks."""
UrlOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL",
        help="URL to request, such as https://localhost:8443/api/orders. Can be repeated for several URLs on one "
        "server.",
        show_default=False,
    ),
]
HarOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.har",
        help="Load a page that a browser recorded (*Save all as HAR*): send its requests to the document's server in "
        "the recorded order. Each user's next visit starts when the previous one has ended. With --har, --url only "
        "gives the address of your server.",
        show_default=False,
    ),
]
PageOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of the page in the recording, from 1; if there is no such page, all pages are listed. [default: "
        "the page of the first request]",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
HostsOption = Annotated[
    Literal["own", "all"],
    typer.Option(
        help="own: send only the recorded requests to the document's host. all: send every recorded request.",
        rich_help_panel=ADVANCED,
    ),
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        metavar="GET|POST",
        help="Method of every request. [default: GET, or POST with --data]",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="'NAME: VALUE'",
        help="Header to send with every request. Can be repeated.",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the body of every request.",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
LoadOption = Annotated[
    str | None,
    typer.Option(
        metavar="USERS[xREQUESTS]",
        help="Number of simultaneous users and, optionally, of requests per user. A user sends the next request after "
        "the response to the previous one (with --har: starts the next visit after the previous one). [default: 4 "
        "users, or 1 with --har; enough requests for a second or two]",
        show_default=False,
    ),
]
RateOption = Annotated[
    float | None,
    typer.Option(
        metavar="R",
        min=0.001,
        max=1_000_000,
        help="Total requests per second across all users. h123 sends them on schedule, even if responses to earlier "
        "requests are still missing (open loop). [default: each user waits for a response before the next request]",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
SniOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Host name to send in TLS (SNI). [default: the host in --url]",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
ReadyOption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT|tcp:PORT",
        help="Before measuring, also wait until the server's output contains TEXT, or until another port on its "
        "host is open, such as that of an application behind the server. [default: wait only for the server's "
        "port]",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
EnvOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Set a variable in the server's environment. Can be repeated.",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
CwdOption = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="The server's working directory.",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
ClientOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Client that sends the requests: go, or load, which leaves more processor time for your server (`h123 "
        "install load`).",
        rich_help_panel=ADVANCED,
    ),
]
