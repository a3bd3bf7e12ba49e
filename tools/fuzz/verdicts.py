"""Fuzzes forged verdicts.json of another campaign, as `report --with` and a notebook read it."""

import functools
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

from campaign_commands import judge
from forging import Forgery, forgeries
from reader import Reader

from h123 import notebook
from h123.analysis import analyse, read_verdicts
from h123.base.errors import UserError
from h123.report.figures.printed_values import printed_figure
from h123.report.page.template import template
from h123.report.text.printed_values import PrintedTable, open_other_side, printed_side, printed_table
from h123.store import CampaignFolder
from study.test_printed import PRINTED, write
from synthetic import Scenario, make_campaign


@functools.cache
def _campaigns() -> tuple[tempfile.TemporaryDirectory[str], CampaignFolder, CampaignFolder]:
    """Make two campaigns that can be compared with the same printed values. The first stays intact. Both are deleted
    with the returned folder."""
    scratch = tempfile.TemporaryDirectory(prefix="h123-forged-")
    place = Path(scratch.name)
    paper = write(place, PRINTED)
    with mock.patch("h123.study.claims.printed_values.list_published", return_value=[paper]):
        scenario = Scenario(blocks=2, as_published=True, protocols=("h2", "h3"), pairs=("h3/h2",))
        made = [make_campaign(place / name, scenario) for name in ("here", "other")]
        for folder in made:
            analyse(folder)
    return scratch, made[0], made[1]


@functools.cache
def _forgeries() -> list[Forgery]:
    return list(forgeries(_short()))


@functools.cache
def _short() -> bytes:
    """Return the verdicts with one row of each part, and with all printed values."""
    content = json.loads(_campaigns()[2].verdicts.read_bytes())
    printed = content["as_published"]["printed"]
    short: dict[str, Any] = _first_rows(content)
    short["as_published"]["printed"] = printed
    return json.dumps(short).encode()


def _first_rows(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _first_rows(value) for name, value in content.items()}
    return [_first_rows(row) for row in content[:1]] if isinstance(content, list) else content


def _read(case: bytes, folder: Path) -> None:
    _, here, other = _campaigns()
    forged = folder / "forged"
    forged.mkdir(exist_ok=True)
    (forged / "campaign.json").write_bytes((other.path / "campaign.json").read_bytes())
    (forged / "verdicts.json").write_bytes(case)
    own = printed_side(here.study, here.name, read_verdicts(here))
    assert own
    refusals = list[UserError]()
    try:
        _show(printed_table(own, open_other_side(here, forged)))
    except UserError as refusal:
        refusals.append(refusal)
    with suppress(UserError):
        _ = notebook.open(forged).verdicts
    for refusal in refusals:
        judge(refusal)
        raise refusal


def _show(table: PrintedTable) -> None:
    assert printed_figure(table), "the values are of a limited link"
    template("h123.report.page", "parts/printed.html.j2").render(printed=table)


VERDICTS = Reader(
    "forged-verdicts",
    _read,
    lambda: [_short()],
    forged=_forgeries,
)
