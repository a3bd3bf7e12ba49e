"""Shows the progress of a running campaign on the terminal and to Prometheus."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from h123.base.terminal.console import err_console, say

if TYPE_CHECKING:
    from h123.campaign import Campaign
    from h123.progress import Display
    from h123.progress.exposition import Exposition


def exposition_at(address: str | None) -> "Exposition | None":
    """Return the server that publishes the campaign's progress, or None if there is no address. The server's library is
    imported only if needed, because it loads slowly."""
    if address is None:
        return None
    from h123.progress.exposition import Exposition, Listening

    return Exposition(Listening.read(address))


@contextmanager
def watched(
    campaign: "Campaign", exposition: "Exposition | None", *, is_quiet: bool, interim: bool = True
) -> "Iterator[Callable[[], Display]]":
    """Yield a function that makes a display for each part of the run. If there is an exposition, it publishes the same
    progress to Prometheus. `interim`: whether to show estimates while the campaign runs."""
    from h123.progress import display_for

    display = partial(display_for, err_console, quiet=is_quiet, interim=interim)
    if exposition is None:
        yield display
        return
    with exposition.of(campaign.plan.study.name, campaign.folder.path):
        say(f"Metrics, while it runs: {exposition.url}")
        yield lambda: exposition.display_with(display())
