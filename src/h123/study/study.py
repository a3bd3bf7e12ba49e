"""Defines a resolved study: a question, its factors and levels, and its comparisons."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, ValidationError

from h123.base.complaints import excerpt
from h123.base.errors import UserError
from h123.base.strict import Strict, changed_value, describe
from h123.base.transport import SETTINGS, Name
from h123.catalogue import OwnServer
from h123.study.metrics.condition import Condition
from h123.study.metrics.table import METRICS, MetricName
from h123.study.networks.network import Network
from h123.study.old_spellings import respelled_study
from h123.study.parameters import Parameters
from h123.study.quantities import RESOLVED, Share

ENOUGH_FOR_INTERVAL = 6
"""The smallest number of blocks with which an interval can contain the true value in 95 of 100 campaigns."""
MOST_TRIALS = 30_000
"""The largest number of trials in a campaign. If all are as short as possible, they take about a day. The number of
blocks has the same limit."""

_MOST_CELLS = 500
"""The largest number of treatments that are examined to find out whether trials have a condition's metric."""
MOST_BARS = 6
"""The largest number of bars in each group of a chart. Readers could not tell more colours apart."""

Level = dict[str, Any]
"""Maps parameter names to the values that a level sets, or that the settings contain."""


def split_pair(pair: str) -> tuple[str, str]:
    """Split `a/b` into (a, b). Raises ValueError."""
    first, slash, second = (part.strip() for part in pair.partition("/"))
    if not (slash and first and second) or "/" in second:
        raise ValueError(f"{pair!r} is not a pair; write first/second, such as h3/h2")
    return first, second


def rungs(ladder: Sequence[str]) -> list[str]:
    """Return the pairs of a ladder: its steps in order, then the last level over the first. Without a ladder, there are
    none."""
    if not ladder:
        return []
    return [*(f"{later}/{earlier}" for earlier, later in itertools.pairwise(ladder)), f"{ladder[-1]}/{ladder[0]}"]


Pair = Annotated[str, AfterValidator(lambda pair: "/".join(split_pair(pair)))]
"""`a/b`: the ratio of level a to level b."""


class Family(Strict):
    """A set of comparisons that are corrected together for multiple testing."""

    name: str
    correction: Literal["holm", "bh"]
    """holm for confirmatory questions, bh (Benjamini-Hochberg) for sweeps."""
    metrics: list[MetricName] = Field(min_length=1)
    """The metrics to compare, by name."""
    pairs: list[Pair] | None = None
    """The pairs to compare. None: all pairs of the study."""
    each: list[str] = Field(default=[])
    """The factors whose levels are corrected separately: each combination of these levels gets its own family."""


OF_REQUESTS = (
    Family(name="answer", correction="holm", metrics=["latency"]),
    Family(name="details", correction="bh", metrics=["ttfb", "goodput", "cold_latency", "handshake", "cpu"]),
)
"""The default families of a study."""
OF_VISITS = (
    Family(name="answer", correction="holm", metrics=["page_complete"]),
    Family(name="details", correction="bh", metrics=["page_first_byte", "page_largest", "cpu"]),
)
"""The default families of a study of pages."""


class Chart(Strict):
    """A bar chart with one group of bars for each chosen level of a second factor. Each group has one bar for each
    chosen level of the compared factor."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40)]
    title: Annotated[str, Field(min_length=1)]
    metric: MetricName
    levels: Annotated[list[str], Field(min_length=1, max_length=MOST_BARS)]
    """The levels that have a bar in each group, in this order."""
    along: str
    """The factor whose levels the groups represent."""
    at: Annotated[dict[str, str], Field(min_length=1)]
    """Maps the name of each group to its level of the factor that `along` names."""


class Comparison(Strict):
    """The levels that the study compares, and the rules by which it judges the differences."""

    factor: str
    """The compared factor."""
    pairs: list[Pair] = Field(min_length=1)
    """The ratios to estimate, each of the first level to the second."""
    twin: str
    """The level that runs twice in each block, for the A/A pair."""
    margin: Annotated[Share, Field(gt=0, lt=1)] = 0.05
    """Ratios from 1/(1 + margin) to 1 + margin count as equivalent."""
    alpha: Annotated[Share, Field(gt=0, lt=1)] = 0.05
    """The significance level: the largest probability of finding a difference where there is none."""
    failures: Annotated[Share, Field(ge=0, lt=1)] = 0.01
    """The largest difference between two levels' failure rates with which their times are compared."""
    answers: Literal["alike", "any"] = Field(default="alike", exclude_if=lambda answers: answers == "alike")
    """alike: levels whose servers send responses of different sizes to the same requests are not judged. any: they are
    judged."""
    essential: list[Name] = Field(default=[], max_length=len(SETTINGS))
    """Settings that must be equal in both levels of a pair; otherwise the study is refused."""
    ladder: list[str] = Field(default=[])
    """Levels in an order in which each differs from the previous one in a single respect. `pairs` must contain each
    level with the previous one (`later/earlier`), and the last with the first."""
    changes: str | None = Field(default=None, exclude_if=lambda changes: changes is None)
    """A factor other than `factor`. Its first level changes nothing, and each of the other levels changes something.
    The answer shows how much of each pair's difference each change removes."""
    charts: list[Chart] = Field(default=[], exclude_if=lambda charts: not charts)
    """Charts that the report shows in addition to its usual ones."""
    as_published: StrictBool = False
    """Whether to analyse the data a second time with the procedure of the REST-API study: pooled requests,
    Mann-Whitney, Kruskal-Wallis."""
    families: list[Family] = Field(default=[*OF_REQUESTS], min_length=1)
    """Sets of comparisons that are corrected together. The first family answers the study's question."""


def _scaled(values: Level, scale: float) -> Level:
    counts = {name: max(1, round(values[name] * scale)) for name in ("requests", "warmup") if values.get(name)}
    return {**values, **counts}


def _refuse_same(factor: str, levels: dict[str, Level], scale: float) -> None:
    for (first, level), (second, other) in itertools.combinations(levels.items(), 2):
        if level == other:
            raise UserError(
                f"--scale {scale:g} makes levels {first} and {second} of factor {factor} the same",
                remedy="choose a larger scale",
            )


def networks_from_resolved(data: Mapping[str, dict[str, Any]]) -> dict[str, Network]:
    """Return the networks of campaign.json by name. Raises UserError if one is not valid."""
    networks = {}
    for name, profile in data.items():
        try:
            networks[name] = Network.from_resolved(profile)
        except ValidationError as invalid:
            raise _not_as_written(_first_fault(invalid, "networks", name)) from None
    return networks


def _first_fault(invalid: ValidationError, *above: str) -> str:
    fault = invalid.errors()[0]
    return describe(fault, ".".join(map(str, [*above, *fault["loc"]])))


def _not_as_written(fault: str) -> UserError:
    return UserError(
        f"the campaign's study is not as h123 writes it: {fault[:300]}",
        remedy="restore campaign.json from a copy, or start a new campaign",
    )


@dataclass(frozen=True)
class _Values:
    """A treatment's parameters as the study spells their values. `text` identifies them."""

    text: str
    values: dict[str, Any] = field(compare=False)


@lru_cache(MOST_TRIALS)
def _resolved(cell: _Values) -> Parameters:
    """Validate the parameters. Results are cached, because plans and analyses need the same treatments many times."""
    return Parameters.model_validate(cell.values, context=RESOLVED)


class Study(Strict):
    """A study with every parameter resolved. Build one with `load_study`, or with `from_resolved` from a campaign."""

    name: str
    question: str
    factors: dict[str, dict[str, Level]]
    """Maps factors to names of levels to the parameters that these levels set."""
    settings: Level
    """The parameters that no factor varies."""
    filter: dict[str, list[str]] = Field(default={}, exclude_if=lambda levels: not levels)
    """For each factor, the levels that run unless `--filter` names others."""
    compare: Comparison
    blocks: Annotated[int, Field(ge=1, le=MOST_TRIALS, strict=True)]
    require: list[Condition] = Field(default=[], exclude_if=lambda require: not require)
    """Conditions that must hold. If one does not, the campaign fails."""
    seed: Annotated[int, Field(ge=0, lt=2**53, strict=True)] = 1
    scale: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The factor by which the request counts of the study's file were multiplied."""
    servers: dict[str, OwnServer] = Field(default={})
    """Servers that the study defines."""
    made_by: str | None = Field(default=None, exclude_if=lambda made_by: made_by is None)
    """The command that drafted the study from another campaign. None: the study was read from a file."""
    networks: dict[str, Network] = Field(default={}, exclude=True)
    """The networks that the study names."""

    def parameters(self, cell: dict[str, str]) -> Parameters:
        """Return all parameters of a treatment, given as one level of each factor."""
        values = self._values(cell)
        return _resolved(_Values(json.dumps(values, sort_keys=True, default=repr), values))

    def _values(self, cell: dict[str, str]) -> dict[str, Any]:
        """Return the parameters of a treatment as the study spells their values. Levels take precedence over
        settings."""
        values = dict(self.settings)
        for factor, level in cell.items():
            values.update(self.factors[factor][level])
        return values

    def unheld(self, condition: Condition, pairs: Sequence[str]) -> str | None:
        """Return why a campaign that compares only these pairs of the study cannot decide the condition, or None if it
        can. The condition's metric does not have to be named in the study."""
        levels = list(dict.fromkeys(level for pair in pairs for level in split_pair(pair)))
        return condition.fault(levels, self.clocks) or self._unmeasured(condition)

    @property
    def clocks(self) -> set[str]:
        sets = [self.settings, *(level for levels in self.factors.values() for level in levels.values())]
        return {values["clock"] for values in sets if "clock" in values} or {"wall"}

    def _unmeasured(self, condition: Condition) -> str | None:
        """Return why no trial with the study's workloads can have a value of the condition's metric, or None if one
        can."""
        metric = METRICS[condition.metric]
        cells = (
            dict(zip(self.factors, cell, strict=True))
            for cell in itertools.islice(itertools.product(*self.factors.values()), _MOST_CELLS)
        )
        workloads = [self.parameters(cell).workload for cell in cells if cell[self.compare.factor] in condition.levels]
        if metric.of_visits and not any(work.visit() for work in workloads):
            return f"{condition.holds!r}: {metric.name} measures page visits, and the study has none"
        needed = metric.needs.requests
        most = max(((work.rows() or {"warm": needed})["warm"] for work in workloads), default=needed)
        if most < needed:
            return (
                f"{condition.holds!r}: {metric.name} needs {needed} requests in a trial, and the study's trials have "
                f"at most {most}; raise `requests` or `users`"
            )
        return None

    def scaled(self, scale: float) -> "Study":
        """Return this study with request counts multiplied by `scale` (0 < scale <= 1), but at least one request for
        each user.

        Payloads, users and networks stay the same; the number of warm-up requests is scaled too. Raises UserError if
        levels become identical.
        """
        if not 0 < scale <= 1:
            raise UserError(
                f"--scale {scale:g}: the scale must be above 0 and at most 1; 0.1 runs a tenth of the requests"
            )
        factors = {
            factor: {name: _scaled(level, scale) for name, level in levels.items()}
            for factor, levels in self.factors.items()
        }
        for factor, levels in factors.items():
            _refuse_same(factor, levels, scale)
        settings = _scaled(self.settings, scale)
        return self.model_copy(update={"factors": factors, "settings": settings, "scale": self.scale * scale})

    def settled(self, **parameters: str | None) -> "Study":
        """Return the study with the given parameters, such as the clock, set for all trials. A value of None changes
        nothing.

        Raises UserError if a factor already sets one of them.
        """
        values = {name: value for name, value in parameters.items() if value is not None}
        for (name, value), (factor, levels) in itertools.product(values.items(), self.factors.items()):
            if any(name in level for level in levels.values()):
                raise UserError(
                    f"--{name} {value}: this study already sets the {name}, in its factor {factor}",
                    remedy=f"choose the level you want with `--filter {factor}=LEVEL`",
                )
        return self.model_copy(update={"settings": {**self.settings, **values}})

    def resolved(self) -> dict[str, Any]:
        """Return the study as data for JSON, without the networks. `Study.from_resolved` is the inverse."""
        content = self.model_dump(mode="json", exclude=None if self.servers else {"servers"})
        return {"h123": "study/1", **content}

    @classmethod
    def from_resolved(cls, data: dict[str, Any], networks: dict[str, dict[str, Any]] | None = None) -> "Study":
        """Build a study from the `study` and `networks` fields of campaign.json. Raises UserError if they are not
        valid."""
        fields = {key: value for key, value in respelled_study(data).items() if key != "h123"}
        profiles = networks_from_resolved(networks or {})
        try:
            study = cls.model_validate({**fields, "networks": profiles}, context=RESOLVED)
            fault = study._misread(fields) or study._contradiction() or study._unreadable_level()
        except ValidationError as invalid:
            fault = _first_fault(invalid, "study")
        if fault:
            raise _not_as_written(fault)
        return study

    def _misread(self, content: Mapping[str, Any]) -> str | None:
        """Return a message about the first value whose type differs from the type that h123 writes, such as a number in
        quotes, or None."""
        changed = changed_value(content, self.model_dump(mode="json"))
        return f"{'.'.join(['study', *changed.at])} is {excerpt(changed.value)}" if changed else None

    def _contradiction(self) -> str | None:
        """Return a message about the first name in the comparison that the study does not define, or None. (For a
        user's file, the reader reports it with the line.)"""
        levels = self.factors.get(self.compare.factor)
        if not levels or not all(self.factors.values()):
            return f"factor {self.compare.factor!r}, or a different one, has no levels"
        other_factors = self.factors.keys() - {self.compare.factor}
        compared_levels = {level for pair in self.compare.pairs for level in split_pair(pair)} | {self.compare.twin} - {
            ""
        }
        pairs = {pair for family in self.compare.families for pair in family.pairs or []} - {*self.compare.pairs}
        each = {factor for family in self.compare.families for factor in family.each} - other_factors
        each |= {self.compare.changes or self.compare.factor} - self.factors.keys()
        charted = {level for chart in self.compare.charts for level in chart.levels} - levels.keys()
        along = {
            level
            for chart in self.compare.charts
            for level in chart.at.values()
            if chart.along not in other_factors or level not in self.factors[chart.along]
        }
        unknown = sorted({*(compared_levels - levels.keys()), *pairs, *each, *charted, *along})
        return f"it compares {unknown[0]!r}, which it does not have" if unknown else None

    def _unreadable_level(self) -> str | None:
        first = {factor: next(iter(levels)) for factor, levels in self.factors.items()}
        for factor, levels in self.factors.items():
            for level in levels:
                cell = {**first, factor: level}
                read, content = self.parameters(cell), self._values(cell)
                if changed := changed_value(content, {**content, **read.model_dump(mode="json", include={*content})}):
                    return f"{changed.at[0]} is {excerpt(changed.value)}"
                if self.networks and (missing := [name for name in read.networks() if name not in self.networks]):
                    return f"there is no network {missing[0]!r}"
        return None
