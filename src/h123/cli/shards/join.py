"""`h123 join`: joins shards into one campaign."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.paths import typed
from h123.base.terminal.console import err_console, out_console, say, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from h123.campaign import Joined

_INCOMPLETE = 1
"""Exit status if blocks are missing."""


def command(
    shards: Annotated[
        list[Path], typer.Argument(help="Folders that `h123 run --shard` wrote, in any order.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Campaign folder. If it already holds a campaign, the shards are added to it."
        ),
    ],
) -> None:
    """Join shards into one campaign, which all commands treat like any other.

    The command first checks the files of every shard against their digests. It refuses a shard of another campaign, and
    lists the differences. Run it again when more shards have arrived: it adds finished blocks, lists the missing blocks
    and shows how to run them. The exit status is 1 while blocks are missing.

    Examples:

    `h123 join shards/1 shards/2 --out campaigns/whole`

    `h123 join shards/1 shards/2 shards/missing --out campaigns/whole`
    """
    from h123.campaign import join_shards

    joined = join_shards(shards, out, say)
    have = joined.planned - len(joined.missing)
    added = f"{len(joined.added)} of them new" if len(joined.added) < have else "all of them new"
    out_console.print(f"{joined.folder.path} has {have} of {joined.planned} blocks, {added}", soft_wrap=True)
    for path in joined.empty:
        say(f"{path}: no trial has run there")
    for path, trials in joined.damaged.items():
        finished = "a finished trial" if trials == 1 else f"{trials} finished trials"
        say(f"{path} is damaged: its journal lacks {finished}. To complete it, and join again:")
        say(f"  h123 run --out {typed(path)}")
    for path, blocks in joined.unfinished.items():
        if path not in joined.damaged:
            say(f"{path} has not finished {_blocks(blocks)}; to continue there:\n  h123 run --out {typed(path)}")
    if joined.missing:
        _tell_missing(joined)
        raise typer.Exit(_INCOMPLETE)
    say(f"Next: h123 analyse {typed(out)}")


def _tell_missing(joined: "Joined") -> None:
    from h123.analysis.results.publication import repeat_command
    from h123.documents.shard import Shard

    folder, shard = joined.folder, Shard.of(joined.missing)
    study = typed(folder.path / "study.yaml")
    write(err_console, f"Missing: {_blocks(joined.missing)}. To run only these here, or as one more shard:")
    write(err_console, f"  h123 run --out {typed(folder.path)}")
    write(err_console, f"  {repeat_command(folder, study)} --shard {shard.text} --out {typed(Path('shards/missing'))}")


def _blocks(numbers: "Sequence[int]") -> str:
    from h123.documents.shard import ranges

    return f"block{'s' * (len(numbers) > 1)} {ranges(numbers).replace(',', ', ')}"
