"""Selects the attempts that the user names for a page."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from h123.base.errors import UserError
from h123.store import CampaignFolder, connect

_NEAR = 3
_MOST = 2
"""The largest number of trials on one page."""


@dataclass(frozen=True)
class SelectedAttempt:
    """An attempt that the user selected."""

    trial: str
    attempt: int
    counts: bool
    valid: bool
    reasons: Sequence[Mapping[str, str]]
    disturbed: bool
    block: int
    cell: Mapping[str, str]
    twin: bool
    clock: str | None
    statuses: Sequence[int]
    """The required status of the response for each resource."""
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.trial}~{self.attempt}"


def choose(folder: CampaignFolder, names: Sequence[str]) -> list[SelectedAttempt]:
    """Find the attempts by name. `b01-t01-medium-h2` names the attempt that counts, `b01-t01-medium-h2~1` the first
    attempt.

    Raises UserError if a named attempt does not exist, or if its files have changed.
    """
    if len(names) > _MOST:
        raise UserError(f"{len(names)} trials are too many for one page", remedy="name one, or two to compare")
    if len(set(names)) < len(names):
        raise UserError(f"{names[0]} is named twice", remedy="name two trials, or one alone")
    attempts = _attempts(folder)
    return [_find_attempt(folder, attempts, name) for name in names]


def trial_lines(folder: CampaignFolder, most: int) -> list[str]:
    """Return a line for each trial that a page can show, with remarks such as `disturbed`, in the order of the blocks.
    Beyond `most` trials, the last line says how many more there are. Raises UserError if there are no trials."""
    by_trial: dict[str, list[Mapping[str, object]]] = {}
    for row in _attempts(folder):
        by_trial.setdefault(str(row["trial"]), []).append(row)
    if not by_trial:
        raise _unknown(folder, "", [])
    lines = [trial + _remarks(rows) for trial, rows in list(by_trial.items())[:most]]
    more = len(by_trial) - len(lines)
    return [*lines, f"and {more} more, in {folder.path / 'trials'}"] if more else lines


def _remarks(rows: Sequence[Mapping[str, object]]) -> str:
    """Return remarks on a trial: ` (A/A twin, 2 attempts, disturbed)`. Empty for an ordinary trial."""
    counting = [row for row in rows if row["counts"]]
    remarks = ["A/A twin"] if rows[0]["twin"] else []
    remarks += [f"{len(rows)} attempts"] if len(rows) > 1 else []
    remarks += ["disturbed"] if any(row["disturbed"] for row in counting) else []
    if not counting:
        remarks.append("damaged" if any(row["damage"] for row in rows) else f"none counts: add ~{rows[-1]['attempt']}")
    return f" ({', '.join(remarks)})" if remarks else ""


def _attempts(folder: CampaignFolder) -> list[Mapping[str, object]]:
    rows = connect(folder).execute(
        "SELECT a.trial, a.attempt, c.attempt IS NOT NULL AS counts, a.valid, a.reasons, a.disturbed, a.block, "
        "a.cell, a.twin, a.parameters, a.statuses, a.damage FROM attempts a "
        "LEFT JOIN analysed c USING (trial, attempt) ORDER BY a.block, a.trial, a.attempt"
    )
    columns = [column for column, *_ in rows.description]
    return [dict(zip(columns, row, strict=True)) for row in rows.fetchall()]


def _find_attempt(folder: CampaignFolder, attempts: Sequence[Mapping[str, object]], name: str) -> SelectedAttempt:
    trial, _, number = Path(name).name.partition("~")
    own = [row for row in attempts if row["trial"] == trial]
    if not own:
        raise _unknown(folder, trial, [str(row["trial"]) for row in attempts])
    if number:
        mine = [row for row in own if str(row["attempt"]) == number]
        if not mine:
            there = ", ".join(f"{trial}~{row['attempt']}" for row in own)
            raise UserError(f"{trial} has no attempt {number}", remedy=f"there are: {there}")
    else:
        mine = [row for row in own if row["counts"]] or [row for row in own if row["valid"] and row["damage"]]
        if not mine:
            latest = f"{trial}~{own[-1]['attempt']}"
            raise UserError(f"no attempt of {trial} counts", remedy=f"name one to see it all the same: {latest}")
    return _undamaged_attempt(folder, mine[0])


def _undamaged_attempt(folder: CampaignFolder, row: Mapping[str, object]) -> SelectedAttempt:
    trial, attempt = str(row["trial"]), int(str(row["attempt"]))
    if row["damage"]:
        raise UserError(
            f"{trial}~{attempt} is not shown, because its files have changed since it was measured: {row['damage']}",
            remedy="restore the files from a copy",
            status=1,
        )
    return SelectedAttempt(
        trial=trial,
        attempt=attempt,
        counts=bool(row["counts"]),
        valid=bool(row["valid"]),
        reasons=json.loads(str(row["reasons"])),
        disturbed=bool(row["disturbed"]),
        block=int(str(row["block"])),
        cell=json.loads(str(row["cell"])),
        twin=bool(row["twin"]),
        clock=json.loads(str(row["parameters"])).get("clock"),
        statuses=cast(Sequence[int], row["statuses"]),
        folder=folder.trial(trial, attempt),
    )


def _unknown(folder: CampaignFolder, trial: str, existing: Sequence[str]) -> UserError:
    names = list(dict.fromkeys(existing))
    if not names:
        return UserError(f"{folder.path} has no trials yet", remedy="measure some: `h123 run --out` goes on with it")
    near = difflib.get_close_matches(trial, names, _NEAR, cutoff=0.7)
    hint = f"did you mean {' or '.join(near)}" if near else f"its trials are called like {', '.join(names[:_NEAR])}"
    return UserError(
        f"{folder.path} has no trial {trial!r}",
        remedy=f"{hint}{'?' if near else '.'} All are in {folder.path / 'trials'}",
    )
