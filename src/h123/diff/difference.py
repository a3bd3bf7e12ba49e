"""Computes the difference between two campaigns from their folders (diff.json)."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from h123.analysis import Case, Treatment, TreatmentMetric, by_pairing, failed_of, failed_words, gather, treatments
from h123.base.errors import UserError
from h123.base.paths import real, typed
from h123.base.units import counted
from h123.diff.circumstances import changes, unlike
from h123.diff.document import Diff, DiffRow, DiffSide, LeftOut
from h123.diff.unpaired import CONFIDENCE, interval
from h123.store import CampaignFolder, damage_words

_SHOWN = 3
"""The largest number of treatments that an error message names."""


@dataclass(frozen=True)
class _DiffCampaign:
    folder: CampaignFolder

    @cached_property
    def case(self) -> Case:
        return gather(self.folder)

    @cached_property
    def treatments(self) -> Mapping[tuple[tuple[str, str], ...], Treatment]:
        return {tuple(sorted(treatment.cell.items())): treatment for treatment in treatments(self.case)}

    @property
    def damage(self) -> str | None:
        """The reason why the campaign's remaining data allow no conclusion. None if nothing is damaged."""
        words = damage_words(self.folder)
        return f"{self.folder.name}: {words}" if words else None

    @property
    def unfinished(self) -> str | None:
        """A note that some of the campaign's trials have not run. None if all have."""
        waiting = self.case.rule.remedy.waiting
        trials = "1 trial has" if waiting == 1 else f"{waiting} trials have"
        return f"{self.folder.name} is not finished: {trials} not run" if waiting else None

    @property
    def side(self) -> DiffSide:
        folder = self.folder
        study = str(folder.study["name"])
        return {"campaign": folder.name, "study": study, "created": folder.created, "blocks": folder.blocks}


def differ(before: CampaignFolder, after: CampaignFolder) -> Diff:
    """Compare `after` with `before`, treatment by treatment. Raises UserError if that is not possible, for example
    because they have no treatment in common."""
    if real(before.path) == real(after.path):
        raise UserError(f"{before.path} was given twice", remedy="name two campaigns' folders")
    if common_trials := _measured(before) & _measured(after):
        raise UserError(
            f"{after.path} has {counted(len(common_trials), 'trial')} that {before.path} has too: one is a copy of the "
            "other",
            remedy="give the folders of two campaigns that were measured separately",
        )
    sides = _DiffCampaign(before), _DiffCampaign(after)
    if bare := [side for side in sides if not side.case.trials.attempts]:
        raise _bare(bare[0])
    common, left_out = _match(*sides)
    spoiled = next((why for side in sides if (why := side.damage)), None)
    rows = [row for trial, other in common for row in _rows(trial, other, sides[0].case.plan.study.compare.failures)]
    if not rows:
        raise _nothing_in_common(sides, left_out)
    return {
        "h123": "diff/1",
        "before": sides[0].side,
        "after": sides[1].side,
        "changes": changes(before, after),
        "left_out": left_out,
        "wider": median(ratios) if (ratios := [trial for side in sides for trial in by_pairing(side.case)]) else None,
        "unfinished": [why for side in sides if (why := side.unfinished)],
        "rows": [{**row, "withheld": spoiled or row["withheld"]} for row in rows],
    }


def _bare(side: _DiffCampaign) -> UserError:
    """Return the error that explains why no trial of a campaign can be compared."""
    failed = failed_of(side.case)
    why = f": {failed_words(failed[0], side.case.factor)}" if failed else ""
    path = typed(side.folder.path)
    remedy = f"fix that, then try again: `h123 run --out {path} --retry`" if failed else f"`h123 run --out {path}`"
    return UserError(f"{side.folder.path} has no trial that counts{why}", remedy=remedy)


def _measured(folder: CampaignFolder) -> set[str]:
    """Return identifiers of the campaign's attempts. A copy of the campaign has the same ones, even if its folder has a
    different name. Imported samples are identified by their files."""
    if folder.imported:
        return {file["sha256"] for file in folder.imported["files"]}
    return {
        json.dumps([event["trial"], event["attempt"], event["time"], event.get("seal")])
        for event in folder.events()
        if event["event"] == "trial"
    }


def _match(before: _DiffCampaign, after: _DiffCampaign) -> tuple[list[tuple[Treatment, Treatment]], list[LeftOut]]:
    networks = before.folder.networks, after.folder.networks
    common, left_out = list[tuple[Treatment, Treatment]](), list[LeftOut]()
    for key, treatment in before.treatments.items():
        other = after.treatments.get(key)
        faults = (
            unlike(treatment.parameters, other.parameters, networks) if other else ["only the campaign before has it"]
        )
        if other and not faults:
            common.append((treatment, other))
        else:
            left_out.append({"cell": treatment.cell, "why": "; ".join(faults)})
    new = [other for key, other in after.treatments.items() if key not in before.treatments]
    left_out += [{"cell": treatment.cell, "why": "only the campaign after has it"} for treatment in new]
    return common, left_out


def _nothing_in_common(sides: Sequence[_DiffCampaign], left_out: Sequence[LeftOut]) -> UserError:
    factors = [", ".join(side.case.plan.study.factors) for side in sides]
    if factors[0] != factors[1]:
        why = f"the factors are {factors[0]} before and {factors[1]} after"
    elif left_out:
        some = [f"{' '.join(treatment['cell'].values())}: {treatment['why']}" for treatment in left_out[:_SHOWN]]
        why = " | ".join(some) + (f" | and {len(left_out) - _SHOWN} more" if len(left_out) > _SHOWN else "")
    else:
        why = "their studies have no metric in common"
    return UserError(
        f"these two campaigns cannot be compared, because they have no treatment in common: {why}",
        remedy="run the same study both times; `h123 compare --save` keeps its study",
    )


def _rows(before: Treatment, after: Treatment, tolerated: float) -> Iterator[DiffRow]:
    failing = abs(before.failed - after.failed) > tolerated
    failures = f"{before.failed:.1%} of its requests failed before, {after.failed:.1%} after" if failing else None
    unlike = after.other_answers(before)
    for metric, measured in before.metrics.items():
        if metric in after.metrics:
            why = unlike or _excluded(measured, after.metrics[metric]) or failures
            row = _row(metric, before.cell, measured, after.metrics[metric], why)
            timeless = measured.timeless and after.metrics[metric].timeless and not unlike
            yield {**row, "timeless": True} if timeless else row


def _excluded(before: TreatmentMetric, after: TreatmentMetric) -> str | None:
    """Return the reason why the metric cannot be judged, beginning with `before` or `after`. None if it can be judged
    on both sides."""
    reasons = ((word, metric.withheld) for word, metric in (("before", before), ("after", after)))
    return next((f"{word}: {why}" for word, why in reasons if why), None)


def _row(
    metric: str, cell: Mapping[str, str], before: TreatmentMetric, after: TreatmentMetric, why: str | None
) -> DiffRow:
    logs = [[log for log in trial.logs.values() if math.isfinite(log)] for trial in (before, after)]
    failed = sum(not math.isfinite(log) for trial in (before, after) for log in trial.logs.values())
    withheld = why or (f"{failed} of its trials failed" if failed else None)
    estimate = interval(*logs)
    values = [[math.exp(log) for log in side] for side in logs]
    return {
        "metric": metric,
        "cell": dict(cell),
        "before": values[0],
        "after": values[1],
        "before_median": median(values[0]) if values[0] else None,
        "after_median": median(values[1]) if values[1] else None,
        "ratio": estimate.ratio if estimate else None,
        "low": estimate.low if estimate else None,
        "high": estimate.high if estimate else None,
        "confidence": CONFIDENCE,
        "withheld": withheld,
    }
