"""The journal's events about trials, each held against its shape before anybody relies on it."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from h123.journal import Event, damaged_line
from h123.results.documents import misshapen
from h123.results.shapes import Trial
from h123.strict import describe
from h123.study import RESOLVED, Parameters

_ANYTHING = {"protocol": "h1", "server": "", "client": "", "network": ""}
_NEEDED = {"protocol", "network", "congestion", "clock", "method", "size", "users", "requests", "rate", "connections"}
_NEEDED |= {"warmup", "cold"}
"""Parameters that the analysis reads; null where samples are imported and do not tell."""


def check_trials(events: list[Event], path: Path, factors: Mapping[str, Any]) -> list[Event]:
    """The same events, of the journal in `path`, of a campaign with these factors and their levels.

    Raises UserError for one about a trial that no such campaign can have.
    """
    for number, event in enumerate(events, start=1):
        if event["event"] == "trial" and (fault := misshapen(event, Trial) or _odd(event, factors)):
            raise damaged_line(path, number, f"not an event about a trial: {fault}")
    return events


def _odd(event: Event, factors: Mapping[str, Any]) -> str | None:
    """What is wrong with the event's cell, time or parameters."""
    cell = event["cell"]
    if cell.keys() != factors.keys() or any(level not in factors[factor] for factor, level in cell.items()):
        return f"{' '.join(cell.values())[:60]!r} is no cell of this study"
    try:
        dt.datetime.fromisoformat(event["time"])
        given = {name: value for name, value in event["parameters"].items() if value is not None}
        read = Parameters.model_validate({**_ANYTHING, **given}, context=RESOLVED).model_dump(mode="json")
    except ValidationError as invalid:
        fault = invalid.errors()[0]
        return describe(fault, ".".join(map(str, ["parameters", *fault["loc"]])))[:300]
    except ValueError as error:
        return str(error)
    if missing := _NEEDED - event["parameters"].keys():
        return f"`parameters.{min(missing)}` is missing"
    odd = [name for name, value in given.items() if (type(value), value) != (type(read[name]), read[name])]
    return f"parameters.{odd[0]} is {given[odd[0]]!r}" if odd else None
