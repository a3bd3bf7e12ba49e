"""Watching a campaign while it runs, on the terminal and over the network."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from h123.base.terminal.console import err_console, say

if TYPE_CHECKING:
    from h123.campaign import Campaign
    from h123.progress import Display
    from h123.progress.exposition import Exposition


def exposition_at(address: str | None) -> "Exposition | None":
    """The server that publishes the campaign's progress; loaded late, because few need it and its library loads
    slowly."""
    if address is None:
        return None
    from h123.progress.exposition import Exposition, Listening

    return Exposition(Listening.read(address))


@contextmanager
def watched(
    campaign: "Campaign", exposition: "Exposition | None", *, is_quiet: bool
) -> "Iterator[Callable[[], Display]]":
    """A function that makes a display for each stretch of the campaign; Prometheus gets the same progress if
    requested."""
    from h123.progress import display_for

    if exposition is None:
        yield lambda: display_for(err_console, quiet=is_quiet)
        return
    with exposition.of(campaign.plan.study.name, campaign.folder.path):
        say(f"Metrics, while it runs: {exposition.url}")
        yield lambda: exposition.display_with(display_for(err_console, quiet=is_quiet))
