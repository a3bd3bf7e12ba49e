"""Defines arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from h123.cli import completion

if TYPE_CHECKING:
    from h123.documents.shard import Shard

ADVANCED = "Advanced"
"""The panel with rarely needed options in a command's help."""
NETWORKS = "lan,home,cellular,poor"
"""The default networks of `h123 compare`."""


class Clock(StrEnum):
    """The clock that measures a trial's times."""

    WALL = "wall"
    VIRTUAL = "virtual"


class Transport(StrEnum):
    """Whether stacks use their own settings (deployed) or equal ones (matched)."""

    DEPLOYED = "deployed"
    MATCHED = "matched"


def share(text: str) -> float:
    """Return the value of an option that takes a percentage, such as 0.05 for `5%`. Raises BadParameter unless it is
    above 0."""
    from h123.base.units import parse_share

    try:
        share = parse_share(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if share == 0:
        raise typer.BadParameter("must be above 0")
    return share


def read_shard(text: str | None) -> "Shard | None":
    """Return the shard that the value of --shard describes, or None if there is no value. Raises UserError."""
    if text is None:
        return None
    from h123.documents.shard import Shard

    return Shard.read(text)


StudyArgument = Annotated[
    str,
    typer.Argument(
        help="Name of a study (listed by `h123 list studies`), or path of its YAML file.",
        autocompletion=completion.studies,
    ),
]
FolderArgument = Annotated[Path, typer.Argument(help="Campaign folder.", show_default=False)]
BlocksOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Number of blocks to run. [default: as in the study]", show_default=False),
]
SEED = "Random seed for the order of trials and for the links."
CLOCK = (
    "Clock for all trials. wall: real time. virtual: simulated time, in which processing takes no time "
    "(docs/virtual-clock.md)."
)
TRANSPORT = (
    "deployed: each stack uses its own settings. matched: initial window, pacing, packet size and the window after an "
    "idle period are made equal where the stacks allow it (docs/fairness.md)."
)
SeedOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help=f"{SEED} [default: as in the study]",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
ScaleOption = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        help="Multiply the number of requests by S (0 < S <= 1), but keep at least one per user. Nothing else changes.",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Overwrite existing files. By default, h123 refuses to overwrite them.",
        rich_help_panel=ADVANCED,
    ),
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="FACTOR=LEVEL[,LEVEL]",
        help="Run only these levels of a factor. Can be repeated.",
        show_default=False,
    ),
]

ClockOption = Annotated[
    Clock | None,
    typer.Option(help=f"{CLOCK} [default: as in the study, or wall]", show_default=False),
]
TransportOption = Annotated[
    Transport | None,
    typer.Option(
        help=f"{TRANSPORT} [default: as in the study, or deployed]",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=200,
        metavar="N",
        help="Run up to N trials over emulated links at the same time; 1 runs them strictly one by one. By default "
        "h123 chooses N from the link rates and the processor time that trials take. Under the virtual clock, the "
        "default is one per processor.",
        show_default=False,
        rich_help_panel=ADVANCED,
    ),
]
EngineOption = Annotated[
    Literal["local", "ray"],
    typer.Option(help="Where to run blocks: on this machine, or on the nodes of a Ray cluster (docs/cluster.md)."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="With --engine ray: the cluster's address, or `auto` for a cluster that this machine belongs to. "
        "[default: $RAY_ADDRESS, or this machine alone]",
        show_default=False,
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Start the programs of a campaign or study that someone else made. By default, h123 shows them and asks "
        "first.",
        rich_help_panel=ADVANCED,
    ),
]
ShardOption = Annotated[
    str | None,
    typer.Option(
        metavar="K/N",
        help="Run only shard K of N, on this machine. To choose the blocks yourself, write blocks:5,9-12 instead of "
        "K/N. `h123 join` combines the shards (docs/cluster.md).",
        show_default=False,
    ),
]
_FAIL_IF = typer.Option(
    "--fail-if",
    metavar="CONDITION",
    help="Exit with status 99 if this condition is met, 98 if it is undecided, and 0 if it is not met. A condition is "
    "a ratio or a change between two levels ('latency new/base > 1.05', 'latency_p99 new/base > +10%'), or a limit "
    "on one level ('latency new > 200ms'). Can be repeated.",
    show_default=False,
)
FailIfOption = Annotated[list[str] | None, _FAIL_IF]
ByOption = Annotated[
    Literal["interval", "estimate"],
    typer.Option(
        "--by",
        help="How --fail-if decides. interval: the condition is met if it is true for the whole confidence interval, "
        "and not met if it is false for the whole interval. estimate: only the estimate counts, so near the bound the "
        "outcome is a matter of chance.",
    ),
]
