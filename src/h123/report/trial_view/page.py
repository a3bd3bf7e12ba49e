"""Writes the page about one trial or two: a single file that opens offline."""

from collections.abc import Sequence
from pathlib import Path

from h123.base.extras import REPORT
from h123.base.files.output import write_output
from h123.report import with_contents
from h123.report.page.template import template
from h123.report.trial_view import facts
from h123.report.trial_view.arm import arms
from h123.report.trial_view.choice import SelectedAttempt
from h123.store import CampaignFolder


def write_trial_view(
    folder: CampaignFolder, attempts: Sequence[SelectedAttempt], page: Path, *, force: bool = False
) -> None:
    """Write the page about one attempt or two. `force`: replace an existing page. Raises OSError, UserError."""
    pair = arms(attempts, folder.study["compare"]["factor"])
    undrawn = REPORT.note("Figures")
    if undrawn:
        pictures: dict[str, object] = {"figures": [], "undrawn": undrawn}
    else:
        # imported here, because the drawing library may be missing
        from h123.report.trial_view.figures import pictures_of

        pictures = pictures_of(pair)
    content = {
        "title": " and ".join(each.trial for each in attempts),
        "campaign": folder.name,
        "study": folder.study["name"],
        "arms": pair,
        "facts": facts.rows(pair),
        "missing": facts.missing(pair),
        **pictures,
    }
    rendered = template("h123.report.trial_view", "page.html.j2").render(**content)
    write_output(page, with_contents(rendered), force=force)
