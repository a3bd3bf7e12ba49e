"""Reads studies/*.yaml files, checks that everything they name exists, and resolves them."""

import itertools
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr, ValidationError

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.strict import Strict
from h123.base.terminal.console import err_console, with_commands
from h123.catalogue import OwnServer, subject_names, unknown_subject
from h123.study.metrics.condition import Condition
from h123.study.metrics.table import METRICS
from h123.study.networks.network import Network
from h123.study.old_spellings import old_keys, respelled
from h123.study.parameters import (
    NETWORK_PARAMETERS,
    PARAMETER_NAMES,
    SUBJECT_PARAMETERS,
    Parameters,
    validate_parameter,
)
from h123.study.quantities import Levels, check_name
from h123.study.registry import load_network
from h123.study.study import MOST_TRIALS, Comparison, Level, Study, rungs, split_pair
from h123.study.workload import KINDS, WorkloadParameters, own_parameters
from h123.study.yaml_document import Location, YamlDocument

FORMAT = "study/1"
MOST_LOADS = 3000
"""The largest number of workloads that the reader examines. A plan cannot have more treatments."""
MOST_LEVELS = 1000
"""The largest number of levels of a factor."""
MOST_CONDITIONS = 100
"""The largest number of conditions that a study may require."""


def _shapes_the_load(levels: dict[str, Level]) -> bool:
    return any(name in WorkloadParameters.model_fields for level in levels.values() for name in level)


class StudyFile(Strict):
    """The outer structure of a study's file. The reader checks the content of `factors` and `settings`."""

    name: Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=100)]
    """The name of the study and of its campaigns."""
    question: Annotated[StrictStr, Field(min_length=1)]
    """The question that the first family answers. The report begins with it."""
    factors: dict[StrictStr, Any] = Field(min_length=1)
    """The factors: parameters with lists of values, or other names with named sets of parameters. All combinations of
    levels run."""
    settings: dict[StrictStr, Any] = Field(default={})
    """Parameters that do not vary."""
    servers: dict[StrictStr, OwnServer] = Field(default={})
    """Your own servers by name. The parameter `server` may name them, just like subjects."""
    filter: dict[StrictStr, Levels] = Field(default={})
    """For each factor, the levels that run unless `--filter` names others."""
    compare: Comparison
    """The levels to compare, and the rules by which the differences are judged."""
    require: list[Condition] = Field(default=[], max_length=MOST_CONDITIONS)
    """Conditions that must hold. If one does not, the campaign fails."""
    blocks: Annotated[StrictInt, Field(ge=1, le=MOST_TRIALS)]
    """The number of times that every treatment runs. With fewer than 6 blocks, there are no verdicts."""
    seed: Annotated[StrictInt, Field(ge=0, lt=2**53)] = 1
    """The seed that determines the order of the trials and the random losses on the links."""


def load_study(path: Path) -> Study:
    """Read a study from its file. Raises UserError with the file, the line and what is allowed there."""
    return StudyReader(YamlDocument.read(path, FORMAT)).study()


class StudyReader:
    """A reader that checks the parts of a study against each other and against the subjects, networks and parameters
    that they name."""

    def __init__(self, document: YamlDocument) -> None:
        self.document = document
        self.networks: dict[str, Network] = {}
        self.own: Collection[str] = ()

    @cached_property
    def subjects(self) -> Collection[str]:
        """The names of all subjects, looked up once per study."""
        return subject_names()

    def study(self) -> Study:
        for at, old, new in [*old_keys(self.document.data)]:
            self.hint([*at, old], f"`{old}` is now called `{new}`; the next version will refuse the old key")
            self.document.rename(at, old, new)
        shape = self.document.validate(StudyFile, self.document.data, context=self.document.path.parent)
        self.check_own(shape.servers)
        settings = {name: self.parameter(name, value, ["settings", name]) for name, value in shape.settings.items()}
        self.refuse_same_columns(list(shape.factors))
        factors = {name: self.levels(name, content) for name, content in shape.factors.items()}
        self.refuse_parameters_set_twice(factors, settings)
        study = Study(
            name=shape.name,
            question=shape.question,
            factors=factors,
            settings=self.completed(factors, settings),
            filter=shape.filter,
            compare=shape.compare,
            require=shape.require,
            blocks=shape.blocks,
            seed=shape.seed,
            servers=shape.servers,
            networks=self.networks,
        )
        self.check_workloads(study, {*shape.settings} | {n for f in factors.values() for lv in f.values() for n in lv})
        self.check_filter(study)
        self.check_comparison(study)
        self.check_required(study)
        return study

    def check_workloads(self, study: Study, parameter_names: Collection[str]) -> None:
        """Check that each workload has the parameters it needs, and that every parameter that the file sets is used by
        a workload."""
        kinds, visits = set[str](), False
        deciding = [name for name, levels in study.factors.items() if _shapes_the_load(levels)]
        for levels in itertools.islice(itertools.product(*(study.factors[name] for name in deciding)), MOST_LOADS):
            cell = dict(zip(deciding, levels, strict=True))
            rest = {name: next(iter(levels)) for name, levels in study.factors.items() if name not in cell}
            parameters = study.parameters({**rest, **cell})
            kinds.add(parameters.kind)
            if fault := parameters.workload.fault():
                raise self.document.error(self.place(study, "kind", cell), fault)
            visits |= parameters.workload.visit() is not None
        if not visits:
            self.check_metrics(study, kinds)
        for kind in KINDS.keys() - kinds:
            available = {name for other in kinds for name in own_parameters(other)}
            if stray := sorted((own_parameters(kind) - available) & {*parameter_names}):
                first = {name: next(iter(levels)) for name, levels in study.factors.items()}
                message = f"{stray[0]!r} belongs to workloads of the kind {kind}, and this study has none"
                raise self.document.error(self.place(study, stray[0], first), message)

    def check_metrics(self, study: Study, kinds: Collection[str]) -> None:
        """Check that a study names metrics of page visits only if its workload visits pages."""
        for number, family in enumerate(study.compare.families):
            for index, name in enumerate(family.metrics):
                if METRICS[name].of_visits:
                    at: list[str | int] = ["compare", "families", number, "metrics", index]
                    message = f"{name} measures page visits, and a workload of the kind {min(kinds)} has none"
                    raise self.document.error(at, message)

    def place(self, study: Study, name: str, cell: dict[str, str]) -> Location:
        for factor, level in cell.items():
            if name in study.factors[factor][level]:
                return ["factors", factor, level]
        return ["settings", name]

    def parameter(self, name: str, value: object, at: Location) -> Any:
        """Return the checked value of one parameter. A network's path becomes the network's name."""
        if name not in PARAMETER_NAMES:
            raise self.document.error(at, f"unknown parameter {name!r}; {choose(name, PARAMETER_NAMES)}")
        if (new := respelled(name, value)) != value:
            self.hint(at, f"`{name}: {value}` is now called `{new}`; the next version will refuse the old word")
        try:
            checked = validate_parameter(name, new, self.document.path.parent)
        except ValidationError as invalid:
            raise self.document.fault(invalid, at, name) from None
        if name in NETWORK_PARAMETERS:
            return checked and self.network(checked, at)
        if name in SUBJECT_PARAMETERS and (name != "server" or checked not in self.own):
            self.check_subject(checked, at)
        return checked

    def hint(self, at: Location, message: str) -> None:
        """Print a hint that begins with the file and the line."""
        line = f"h123: {self.document.path}:{self.document.line(at)}: {message}"
        err_console.print(with_commands(line), soft_wrap=True)

    def check_own(self, servers: Collection[str]) -> None:
        """Check that none of the study's own servers has the name of a subject."""
        for name in servers:
            self.name(name, "server", ["servers", name])
            if name in self.subjects:
                message = f"there is a subject named {name!r}; choose another name for the study's own server"
                raise self.document.error(["servers", name], message)
        self.own = servers

    def check_subject(self, name: str, at: Location) -> None:
        if name not in self.subjects:
            unknown = unknown_subject(name)
            raise self.document.error(at, f"{unknown.message}; {unknown.remedy}")

    def network(self, name: str, at: Location) -> str:
        try:
            network = load_network(name, folder=self.document.path.parent)
        except UserError as error:
            raise self.document.error(at, error.message) from None
        if self.networks.setdefault(network.name, network) != network:
            raise self.document.error(at, f"two different networks are named {network.name!r}")
        return network.name

    def levels(self, factor: str, content: Any) -> dict[str, Level]:
        """Return the levels of one factor. `content` lists values of the parameter with the factor's name, or gives
        named sets of parameters."""
        at: list[str | int] = ["factors", factor]
        self.name(factor, "factor", at)
        if isinstance(content, list | dict) and len(content) > MOST_LEVELS:
            raise self.document.error(
                at, f"factor {factor!r} has {len(content)} levels; at most {MOST_LEVELS} are possible"
            )
        if isinstance(content, list):
            if factor not in PARAMETER_NAMES:
                message = f"factor {factor!r} is a list of values, so it must have the name of a parameter"
                raise self.document.error(at, f"{message}; {choose(factor, PARAMETER_NAMES)}")
            levels = [self.scalar_level(factor, value, [*at, index]) for index, value in enumerate(content)]
        elif isinstance(content, dict):
            levels = [self.bundle_level(name, bundle, [*at, name]) for name, bundle in content.items()]
        else:
            raise self.document.error(at, f"factor {factor!r} needs a list of values or named sets of parameters")
        if not levels:
            raise self.document.error(at, f"factor {factor!r} has no levels")
        for index, (name, level) in enumerate(levels):
            for earlier, other in levels[:index]:
                if name == earlier or self.alike(level, other):
                    message = f"level {name!r} of factor {factor!r} is the same as {earlier!r}"
                    raise self.document.error([*at, index if isinstance(content, list) else name], message)
        return dict(levels)

    def alike(self, level: Level, other: Level) -> bool:
        """Return whether two levels lead to identical trials."""
        return level == other

    def scalar_level(self, factor: str, value: Any, at: Location) -> tuple[str, Level]:
        checked = self.parameter(factor, value, at)
        text = str(value).lower() if isinstance(value, bool | None) else str(value)
        name = checked if factor in NETWORK_PARAMETERS and checked else text
        return self.name(name, "level", at), {factor: checked}

    def bundle_level(self, name: Any, bundle: Any, at: Location) -> tuple[str, Level]:
        if not isinstance(bundle, dict) or not bundle:
            raise self.document.error(
                at, f"level {name!r} must list the parameters it sets, such as {{users: 4, requests: 5}}"
            )
        level = {key: self.parameter(str(key), value, [*at, str(key)]) for key, value in bundle.items()}
        return self.name(str(name), "level", at), level

    def name(self, name: str, what: str, at: Location) -> str:
        try:
            return check_name(name, what)
        except ValueError as fault:
            raise self.document.error(at, str(fault)) from None

    def refuse_same_columns(self, factors: list[str]) -> None:
        """Refuse factors whose names differ only in case. Tables have a column for each factor, and SQL treats `load`
        and `Load` as the same name."""
        first_spelling: dict[str, str] = {}
        for factor in factors:
            if (other := first_spelling.setdefault(factor.lower(), factor)) != factor:
                raise self.document.error(["factors", factor], f"factors {other!r} and {factor!r} differ only in case")

    def refuse_parameters_set_twice(self, factors: dict[str, dict[str, Level]], settings: Level) -> None:
        owner: dict[str, str] = {}
        for factor, levels in factors.items():
            for name in sorted({name for level in levels.values() for name in level}):
                if name in owner:
                    message = f"{name!r} is already set by factor {owner[name]!r}; only one factor can set a parameter"
                    raise self.document.error(["factors", factor], message)
                owner[name] = factor
                if name in settings and all(name in level for level in levels.values()):
                    message = f"{name!r} is set by every level of factor {factor!r}; remove it here"
                    raise self.document.error(["settings", name], message)

    def completed(self, factors: dict[str, dict[str, Level]], settings: Level) -> Level:
        """Return the settings, with defaults for all parameters that no factor sets in all of its levels."""
        complete = dict(settings)
        for name, field in Parameters.model_fields.items():
            everywhere = any(all(name in level for level in levels.values()) for levels in factors.values())
            if name in settings or everywhere:
                continue
            if field.is_required():
                message = f"parameter {name!r} is not set: set it here, or in every level of a factor"
                raise self.document.error(["settings"], message)
            complete[name] = field.default
        return complete

    def check_filter(self, study: Study) -> None:
        for factor, levels in study.filter.items():
            if factor not in study.factors:
                message = f"{factor!r} is not a factor of this study; {choose(factor, study.factors)}"
                raise self.document.error(["filter", factor], message)
            for level in levels:
                if level not in study.factors[factor]:
                    message = f"{level!r} is not a level of {factor!r}; {choose(level, study.factors[factor])}"
                    raise self.document.error(["filter", factor], message)

    def check_comparison(self, study: Study) -> None:
        compare, at = study.compare, "compare"
        if compare.factor not in study.factors:
            message = f"{compare.factor!r} is not a factor of this study; {choose(compare.factor, study.factors)}"
            raise self.document.error([at, "factor"], message)
        self.check_twin(study)
        self.check_pairs(compare.pairs, study.factors[compare.factor].keys(), compare.factor)
        self.check_ladder(compare)
        self.check_families(study)
        self.check_changes(study)
        self.check_charts(study)

    def check_changes(self, study: Study) -> None:
        """Check that the factor that `changes` names exists and has at least two levels."""
        factor, other_factors = study.compare.changes, [name for name in study.factors if name != study.compare.factor]
        if factor is None:
            return
        if factor not in other_factors:
            message = f"`changes` cannot be {factor!r}; {choose(factor, other_factors)}"
            raise self.document.error(["compare", "changes"], message)
        if len(study.factors[factor]) == 1:
            message = f"factor {factor!r} has one level; `changes` needs a level without a change and one with a change"
            raise self.document.error(["factors", factor], message)

    def check_required(self, study: Study) -> None:
        """Check that campaigns of the study can decide each of its required conditions."""
        for index, condition in enumerate(study.require):
            if fault := study.unheld(condition, study.compare.pairs):
                raise self.document.error(["require", index], fault)

    def check_ladder(self, compare: Comparison) -> None:
        """Check that `pairs` contains every step of the ladder and the whole ladder. (The product of the steps' ratios
        is the ratio of the whole.)"""
        if len(compare.ladder) in (1, 2):
            raise self.document.error(["compare", "ladder"], "a ladder needs at least 3 levels: two steps")
        for pair in rungs(compare.ladder):
            if pair not in compare.pairs:
                message = f"the ladder needs the pair {pair!r}, which is not in `pairs`"
                raise self.document.error(["compare", "ladder"], message)

    def check_charts(self, study: Study) -> None:
        """Check that each chart has its own name and shows existing levels."""
        compare, names = study.compare, [chart.name for chart in study.compare.charts]
        other_factors = [factor for factor in study.factors if factor != compare.factor]
        for index, chart in enumerate(compare.charts):
            at: list[str | int] = ["compare", "charts", index]
            if chart.name in names[:index]:
                raise self.document.error([*at, "name"], f"two charts are named {chart.name!r}")
            if chart.along not in other_factors:
                message = (
                    f"chart {chart.name!r}: `along` cannot be {chart.along!r}; {choose(chart.along, other_factors)}"
                )
                raise self.document.error([*at, "along"], message)
            groups, factors = {chart.along: list(chart.at.values()), compare.factor: chart.levels}, study.factors
            for factor, levels in groups.items():
                if unknown := [level for level in levels if level not in factors[factor]]:
                    message = f"{unknown[0]!r} is not a level of {factor!r}; {choose(unknown[0], factors[factor])}"
                    raise self.document.error([*at, "at" if factor == chart.along else "levels"], message)

    def check_twin(self, study: Study) -> None:
        compare, levels = study.compare, study.factors[study.compare.factor]
        if compare.twin not in levels:
            message = f"twin {compare.twin!r} is not a level of {compare.factor!r}; {choose(compare.twin, levels)}"
            raise self.document.error(["compare", "twin"], message)

    def check_pairs(self, pairs: list[str], levels: Collection[str], factor: str) -> None:
        first_pair: dict[frozenset[str], str] = {}
        for index, pair in enumerate(pairs):
            at: list[str | int] = ["compare", "pairs", index]
            both = split_pair(pair)
            for level in both:
                if level not in levels:
                    message = f"{level!r} in pair {pair!r} is not a level of {factor!r}; {choose(level, levels)}"
                    raise self.document.error(at, message)
            if both[0] == both[1]:
                raise self.document.error(at, f"pair {pair!r} compares a level with itself; use `twin` for that")
            if frozenset(both) in first_pair:
                raise self.document.error(
                    at, f"pair {pair!r} repeats {first_pair[frozenset(both)]!r}; list each pair once"
                )
            first_pair[frozenset(both)] = pair

    def check_families(self, study: Study) -> None:
        other_factors = [factor for factor in study.factors if factor != study.compare.factor]
        names = [family.name for family in study.compare.families]
        pairs = set(study.compare.pairs)
        for index, family in enumerate(study.compare.families):
            at: list[str | int] = ["compare", "families", index]
            if family.name in names[:index]:
                raise self.document.error([*at, "name"], f"two families are named {family.name!r}")
            for pair in family.pairs or []:
                if pair not in pairs:
                    message = f"family {family.name!r}: {pair!r} is not in `pairs`; {choose(pair, study.compare.pairs)}"
                    raise self.document.error([*at, "pairs"], message)
            for factor in family.each:
                if factor not in other_factors:
                    message = f"family {family.name!r}: `each` cannot be {factor!r}; {choose(factor, other_factors)}"
                    raise self.document.error([*at, "each"], message)
