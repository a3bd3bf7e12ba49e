"""Campaigns of a known truth, without files: what claims are decided by."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np

from h123.analysis.audits import TrialAudits, trial_audits
from h123.analysis.case import Case, Evidence, Facts
from h123.analysis.selected_trials import Selection
from h123.analysis.statistics.looks import Looks
from h123.analysis.statistics.rule import Rule
from h123.analysis.trials import TrialSet
from h123.measures import Attempt
from h123.measures.attempts import NO_REPORT
from h123.measures.summary import Summary
from h123.measures.timeline import Timeline
from h123.store import CampaignFolder
from h123.study import Plan, find_study, load_study, make_plan

Effect = float | Callable[[Mapping[str, str]], float]
BLOCKS = 8

TRUTH: dict[str, Effect] = {
    "latency": 1.0,
    "ttfb": 1.0,
    "goodput": 1.0,
}
"""h3 / h2 by metric and cell."""


ANSWERED = Summary(**{field.name: 0 for field in fields(Summary)})
"""Of a trial whose requests were all answered: nothing else is asked of it here."""


def value(effect: Effect, cell: Mapping[str, str]) -> float:
    return effect(cell) if callable(effect) else effect


@cache
def planned(study: str, blocks: int, scale: float, only: tuple[tuple[str, ...], ...]) -> Plan:
    kept = {factor: levels for factor, *levels in only}
    return make_plan(load_study(find_study(study)).scaled(scale), blocks=blocks, level_filter=kept)


def case(
    effects: Mapping[str, Effect] | None = None,
    *,
    noise: float = 0.005,
    blocks: int = BLOCKS,
    scale: float = 1.0,
    only: dict[str, list[str]] | None = None,
    lost: Callable[[Mapping[str, str]], bool] = lambda _: False,
    study: str = "rest-api",
    seed: int = 20,
) -> Case:
    """A campaign, of the REST study if no other; `effects` replace those of TRUTH, `lost` trials are not valid."""
    random, truth = np.random.default_rng(seed), {**TRUTH, **(effects or {})}
    plan = planned(study, blocks, scale, tuple((factor, *levels) for factor, levels in (only or {}).items()))
    attempts = []
    for trial in plan.trials():
        own = {name: math.exp(random.normal(0, noise)) for name in truth}
        if lost(trial.cell):
            continue
        effect = {
            name: value(of, trial.cell) if trial.cell.get("protocol", "h3") == "h3" else 1.0
            for name, of in truth.items()
        }
        attempts.append(
            Attempt(
                trial=trial.id,
                attempt=1,
                block=trial.block,
                position=trial.position,
                place=None,
                cell=trial.cell,
                twin=trial.twin,
                parameters={"clock": "wall"},
                disturbed=False,
                disturbance=None,
                shares={},
                link={},
                report=NO_REPORT,
                facts=None,
                false_start=False,
                imported=False,
                summary=ANSWERED,
                timeline=Timeline(),
                openings=[],
                metrics={name: trial.block * own[name] * effect[name] for name in truth},
            )
        )
    return Case(
        plan,
        TrialSet(attempts),
        Selection(TrialSet(attempts)),
        Rule(0.05, 0.05, Looks([blocks])),
        networks={},
        facts=Facts("made", "", 1, [], None, None, {}),
        evidence=Evidence(CampaignFolder(Path("nowhere"), {})),
        computed={trial_audits: TrialAudits([], [], [])},
    )
