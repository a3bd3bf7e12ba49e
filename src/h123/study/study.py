"""A resolved study: a question, its factors and levels, and what it compares."""

import itertools
from collections.abc import Mapping, Sequence
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
"""The fewest blocks with an interval that contains the truth in 95 of 100 campaigns."""
MOST_TRIALS = 30_000
"""The most trials of a campaign: a day of the shortest ones. The number of blocks has the same limit."""

_MOST_CELLS = 500
"""The most cells that are examined for a condition's metric."""
MOST_BARS = 6
"""The most bars in a group of a chart, whose colours a reader can distinguish."""

Level = dict[str, Any]
"""Parameter name to value: what a level sets, or the settings."""


def split_pair(pair: str) -> tuple[str, str]:
    """`a/b` as (a, b). Raises ValueError."""
    first, slash, second = (part.strip() for part in pair.partition("/"))
    if not (slash and first and second) or "/" in second:
        raise ValueError(f"{pair!r} is not a pair; write first/second, such as h3/h2")
    return first, second


def rungs(ladder: Sequence[str]) -> list[str]:
    """The pairs of a ladder: its steps in order, then the whole; none without a ladder."""
    if not ladder:
        return []
    return [*(f"{later}/{earlier}" for earlier, later in itertools.pairwise(ladder)), f"{ladder[-1]}/{ladder[0]}"]


Pair = Annotated[str, AfterValidator(lambda pair: "/".join(split_pair(pair)))]
"""`a/b`: the ratio of level a to level b."""


class Family(Strict):
    """Comparisons that are corrected together for their number."""

    name: str
    correction: Literal["holm", "bh"]
    """holm for confirmatory questions, bh (Benjamini-Hochberg) for sweeps."""
    metrics: list[MetricName] = Field(min_length=1)
    """Metrics by name."""
    pairs: list[Pair] | None = None
    """None: all pairs of the study."""
    each: list[str] = Field(default=[])
    """One family per level of these factors."""


OF_REQUESTS = (
    Family(name="answer", correction="holm", metrics=["latency"]),
    Family(name="details", correction="bh", metrics=["ttfb", "goodput", "cold_latency", "handshake", "cpu"]),
)
"""The families of a study that names none."""
OF_VISITS = (
    Family(name="answer", correction="holm", metrics=["page_complete"]),
    Family(name="details", correction="bh", metrics=["page_first_byte", "page_largest", "cpu"]),
)
"""The families of a study of pages that names none."""


class Chart(Strict):
    """A picture of values: bars of levels of the compared factor, in groups along another one."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40)]
    title: Annotated[str, Field(min_length=1)]
    metric: MetricName
    levels: Annotated[list[str], Field(min_length=1, max_length=MOST_BARS)]
    """Levels with a bar in each group, in this order."""
    along: str
    """The other factor."""
    at: Annotated[dict[str, str], Field(min_length=1)]
    """The name of each group, and the level of that factor that it shows."""


class Comparison(Strict):
    """The levels that the study compares, and how strictly."""

    factor: str
    """The compared factor."""
    pairs: list[Pair] = Field(min_length=1)
    """Ratios, first level over second."""
    twin: str
    """This level runs twice in each block: the A/A pair."""
    margin: Annotated[Share, Field(gt=0, lt=1)] = 0.05
    """Ratios within 1/(1 + margin) to 1 + margin count as equivalent."""
    alpha: Annotated[Share, Field(gt=0, lt=1)] = 0.05
    """How often a campaign without any difference may still find one."""
    failures: Annotated[Share, Field(ge=0, lt=1)] = 0.01
    """If the shares of failed requests of two levels differ by more than this, their times are not compared."""
    answers: Literal["alike", "any"] = Field(default="alike", exclude_if=lambda answers: answers == "alike")
    """alike: levels whose servers answer the same requests with different sizes are not judged; any: they are."""
    essential: list[Name] = Field(default=[], max_length=len(SETTINGS))
    """Settings that must be equal in both levels of a pair; otherwise the study is refused."""
    ladder: list[str] = Field(default=[])
    """Levels from one end to the other that change one thing at a time; `pairs` has each with the one before it, and
    the last with the first."""
    charts: list[Chart] = Field(default=[], exclude_if=lambda charts: not charts)
    """Charts that the report has in addition to its own."""
    as_published: StrictBool = False
    """Whether to analyse also with the procedure of the REST-API study: pooled requests, Mann-Whitney,
    Kruskal-Wallis."""
    families: list[Family] = Field(default=[*OF_REQUESTS], min_length=1)
    """Comparisons that are corrected together; the first family is the question."""


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
    """The networks of campaign.json by name. Raises UserError if one is not possible."""
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


class Study(Strict):
    """A study with every parameter resolved. Build one with `load_study`, or with `from_resolved` from a campaign."""

    name: str
    question: str
    factors: dict[str, dict[str, Level]]
    """Factor to level name to the parameters that this level sets."""
    settings: Level
    """The other parameters."""
    filter: dict[str, list[str]] = Field(default={}, exclude_if=lambda levels: not levels)
    """The levels of these factors that run if `--filter` does not name others."""
    compare: Comparison
    blocks: Annotated[int, Field(ge=1, le=MOST_TRIALS, strict=True)]
    require: list[Condition] = Field(default=[], exclude_if=lambda require: not require)
    """Conditions that must hold, or the campaign fails."""
    seed: Annotated[int, Field(ge=0, lt=2**53, strict=True)] = 1
    scale: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The factor by which the file's request counts were multiplied."""
    servers: dict[str, OwnServer] = Field(default={})
    """Servers that the study describes itself."""
    networks: dict[str, Network] = Field(default={}, exclude=True)
    """Profiles of the networks that the study names."""

    def parameters(self, cell: dict[str, str]) -> Parameters:
        """All parameters of the cell that takes the given level of each factor."""
        return Parameters.model_validate(self._values(cell), context=RESOLVED)

    def _values(self, cell: dict[str, str]) -> dict[str, Any]:
        """The parameters as in the study: a level takes precedence over a setting."""
        values = dict(self.settings)
        for factor, level in cell.items():
            values.update(self.factors[factor][level])
        return values

    def unheld(self, condition: Condition, pairs: Sequence[str]) -> str | None:
        """Why a campaign that compares these of the study's pairs cannot decide the condition. None: it can, whether or
        not the study names the condition's metric."""
        levels = list(dict.fromkeys(level for pair in pairs for level in split_pair(pair)))
        sets = [self.settings, *(level for levels in self.factors.values() for level in levels.values())]
        clocks = {values["clock"] for values in sets if "clock" in values}
        return condition.fault(levels, clocks) or self._unmeasured(condition)

    def _unmeasured(self, condition: Condition) -> str | None:
        """Report that none of its trials has a value of the metric, as far as their workload shows."""
        metric = METRICS[condition.metric]
        cells = (
            dict(zip(self.factors, cell, strict=True))
            for cell in itertools.islice(itertools.product(*self.factors.values()), _MOST_CELLS)
        )
        workloads = [self.parameters(cell).workload for cell in cells if cell[self.compare.factor] in condition.levels]
        if metric.of_visits and not any(work.visit() for work in workloads):
            return f"{condition.holds!r}: {metric.name} is of visits of a page, and the study has none"
        needed = metric.needs.requests
        most = max(((work.rows() or {"warm": needed})["warm"] for work in workloads), default=needed)
        if most < needed:
            return (
                f"{condition.holds!r}: {metric.name} needs {needed} requests in a trial, and the study's have {most} "
                "at most; raise `requests` or `users`"
            )
        return None

    def scaled(self, scale: float) -> "Study":
        """This study with `scale` (0 < scale <= 1) times as many requests, at least one for each user.

        Payloads, users and networks stay, and warm-up shrinks alike. Raises UserError if levels become the same.
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
        """The study with parameters that are the same in all trials, such as the clock. None leaves a parameter as it
        is.

        Raises UserError if a factor sets one of them.
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
        """JSON-ready, without the networks' profiles; `Study.from_resolved` is its inverse."""
        content = self.model_dump(mode="json", exclude=None if self.servers else {"servers"})
        return {"h123": "study/1", **content}

    @classmethod
    def from_resolved(cls, data: dict[str, Any], networks: dict[str, dict[str, Any]] | None = None) -> "Study":
        """A study from campaign.json (`study` and `networks`). Raises UserError if it is not possible."""
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
        """Values in the file with a type that h123 does not write, such as a number in quotes."""
        changed = changed_value(content, self.model_dump(mode="json"))
        return f"{'.'.join(['study', *changed.at])} is {excerpt(changed.value)}" if changed else None

    def _contradiction(self) -> str | None:
        """Compared levels that do not exist. (In a user's file, the reader reports this with the line.)"""
        levels = self.factors.get(self.compare.factor)
        if not levels or not all(self.factors.values()):
            return f"factor {self.compare.factor!r}, or another, has no levels"
        other_factors = self.factors.keys() - {self.compare.factor}
        compared_levels = {level for pair in self.compare.pairs for level in split_pair(pair)} | {self.compare.twin} - {
            ""
        }
        pairs = {pair for family in self.compare.families for pair in family.pairs or []} - {*self.compare.pairs}
        each = {factor for family in self.compare.families for factor in family.each} - other_factors
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
