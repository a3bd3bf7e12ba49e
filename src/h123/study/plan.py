"""Plans the trials of a study in randomised complete blocks.

Each block runs every treatment of every cell once, and one treatment of each cell again as its A/A twin, all in one
random order. The order and the seeds depend only on SHA-256, so they are the same on every machine and with every
library version:

* a treatment's position in its block is the rank of hash(seed, block, treatment);
* the link's seed is hash(seed, block, network), so the link makes the same random draws in all compared trials of a
  block, under both clocks;
* the position of a deliberately lost packet, the start of cross traffic, and the point at which a block begins to
  replay records of links come from an evenly spread sequence, indexed by the block's number.

None of these depends on the number of blocks or on a filter. So a longer campaign extends a shorter one, and a filtered
campaign is a part of the whole one, with the same trial IDs, seeds and relative order.
"""

import hashlib
import itertools
import math
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from h123.base.complaints import choose
from h123.base.errors import UserError
from h123.base.units import format_span
from h123.study.changes.single_loss import spread
from h123.study.confounding import confounded_note, confounded_parameters
from h123.study.estimate import Estimate, estimate_blocks, own_seconds
from h123.study.networks.network import Network
from h123.study.parameters import Parameters, PlannedTrial
from h123.study.study import MOST_TRIALS, Study, split_pair
from h123.study.workload import Upload

LevelFilter = dict[str, list[str]]
"""Maps factors to their levels that run."""
MAX_ID_LENGTH = 120
LEAST_IPV6_MTU = 1280
"""The packet size in bytes that every IPv6 path must carry (RFC 8200, section 5)."""
MOST_TREATMENTS = 3_000
"""The largest number of treatments in a study. h123 resolves and shows each of them before anything runs."""


@dataclass(frozen=True)
class Plan:
    """All trials of a campaign, or of some of its blocks. Each block lists its trials in the order of execution."""

    study: Study
    seed: int
    level_filter: LevelFilter
    blocks: list[list[PlannedTrial]]
    pairs: list[str]
    """The pairs of the study that remain after filtering."""
    planned: int
    """The number of blocks in the campaign. A plan made by `part` contains only some of them."""
    notes: list[str] = field(default_factory=list)
    """Notes for the user, such as what the filter removed and what cannot be measured or separated."""

    def part(self, numbers: Container[int]) -> "Plan":
        return replace(self, blocks=[block for block in self.blocks if block[0].block in numbers])

    def trials(self) -> list[PlannedTrial]:
        return list(itertools.chain.from_iterable(self.blocks))

    def uploads(self) -> set[Upload]:
        return {upload for trial in self.blocks[0] for upload in trial.parameters.workload.uploads()}

    def estimates(self) -> dict[str, Estimate]:
        """Return the cost of every trial, keyed by the trial's ID."""
        return estimate_blocks(self.blocks, self.study.networks)


@dataclass(frozen=True)
class _Treatment:
    cell: dict[str, str]
    twin: bool
    parameters: Parameters
    link: str
    """The input of the link's seed in addition to the campaign's seed and the block."""

    def order(self, seed: int, block: int) -> int:
        words = [f"{factor}={self.cell[factor]}" for factor in sorted(self.cell)]
        return _draw("order", seed, block, *words, f"twin={self.twin}")


def parse_filter(options: list[str]) -> LevelFilter:
    """Parse `FACTOR=LEVEL[,LEVEL]` options into a map from factors to levels. Raises UserError."""
    level_filter: LevelFilter = {}
    for option in options:
        factor, equals, levels = option.partition("=")
        names = [name.strip() for name in levels.split(",") if name.strip()]
        if not (equals and factor.strip() and names):
            raise UserError(f"--filter {option}: write FACTOR=LEVEL or FACTOR=LEVEL,LEVEL, such as network=lan,poor")
        level_filter.setdefault(factor.strip(), []).extend(names)
    return level_filter


def make_plan(
    study: Study, *, blocks: int | None = None, seed: int | None = None, level_filter: LevelFilter | None = None
) -> Plan:
    """Plan the trials of a study. `blocks` and `seed` replace the study's values. `level_filter` keeps only the named
    levels; for factors that it does not name, the study's own filter applies.

    Raises UserError if a filter names an unknown factor or level or leaves nothing to compare, if there are too many
    trials, or if a trial would exceed its `trial_timeout` or needs IPv6 over a network that does not carry it.
    """
    count = study.blocks if blocks is None else blocks
    chosen_seed = study.seed if seed is None else seed
    if count < 1:
        raise UserError(f"--blocks {count}: a campaign needs at least 1 block, and verdicts need at least 6")
    if not 0 <= chosen_seed < 2**53:
        raise UserError(f"--seed {chosen_seed}: the seed must be a whole number from 0 to {2**53 - 1}")
    level_filter = {**study.filter, **(level_filter or {})}
    _refuse_too_many(study, level_filter, count)
    levels = _filtered_levels(study, level_filter)
    usual = _filtered_levels(study, study.filter)
    pairs, notes = _filtered_pairs(study, levels[study.compare.factor], usual[study.compare.factor])
    treatments = _treatments(study)
    for treatment in treatments:
        if _passes_filter(treatment, levels):
            _refuse_endless(study, treatment)
            _refuse_without_ipv6(study, treatment.parameters)
    planned = [_block(study, treatments, levels, chosen_seed, number) for number in range(1, count + 1)]
    if note := timeless_note((trial.parameters for trial in planned[0]), study.networks):
        notes.append(note)
    notes += [confounded_note(factor, names) for factor, names in confounded_parameters(study, levels)]
    return Plan(study, chosen_seed, level_filter, planned, pairs, count, notes)


def _refuse_too_many(study: Study, level_filter: LevelFilter, blocks: int) -> None:
    """Raise UserError if the plan would have more trials than a campaign may have."""
    treatments = math.prod(len(levels) for levels in study.factors.values())
    if treatments > MOST_TREATMENTS:
        raise UserError(
            f"study {study.name}: its factors make {treatments} treatments; at most {MOST_TREATMENTS} are possible",
            remedy="leave out some levels, or divide the study",
        )
    each = math.prod(
        sum(level in level_filter.get(factor, levels) for level in levels) for factor, levels in study.factors.items()
    )
    if each * blocks > MOST_TRIALS:
        raise UserError(
            f"study {study.name}: {blocks} blocks of {each} trials or more are too many;"
            f" a campaign has at most {MOST_TRIALS} trials",
            remedy="choose fewer blocks (--blocks) or fewer levels (--filter)",
        )


def _filtered_levels(study: Study, level_filter: LevelFilter) -> dict[str, list[str]]:
    levels_by_factor = {factor: list(levels) for factor, levels in study.factors.items()}
    for factor, names in level_filter.items():
        if factor not in levels_by_factor:
            raise UserError(
                f"--filter {factor}=...: study {study.name} has no such factor; {choose(factor, levels_by_factor)}"
            )
        for name in names:
            if name not in study.factors[factor]:
                raise UserError(f"--filter {factor}={name}: no such level; {choose(name, study.factors[factor])}")
        levels_by_factor[factor] = [level for level in levels_by_factor[factor] if level in names]
    return levels_by_factor


def _filtered_pairs(study: Study, levels: list[str], usual: list[str]) -> tuple[list[str], list[str]]:
    """Return the pairs whose levels both run, and notes about what the filter drops: pairs whose levels run without it
    (`usual`), and the twin."""
    pairs, expected = (
        [pair for pair in study.compare.pairs if all(level in available for level in split_pair(pair))]
        for available in (levels, usual)
    )
    dropped = [pair for pair in expected if pair not in pairs]
    if not pairs:
        raise UserError(
            f"--filter leaves nothing to compare: with {study.compare.factor}={','.join(levels)}, no pair of"
            f" {', '.join(study.compare.pairs)} is complete",
            remedy=f"keep both levels of at least one pair of {study.compare.factor}",
        )
    notes = [f"--filter drops these comparisons: {', '.join(dropped)}"] if dropped else []
    if study.compare.twin not in levels:
        notes.append(f"--filter drops the twin, {study.compare.twin}: this campaign has no A/A pair")
    return pairs, notes


def _treatments(study: Study) -> list[_Treatment]:
    """Return a treatment for every combination of levels, and a second one for each combination that runs twice."""
    cells = [dict(zip(study.factors, levels, strict=True)) for levels in itertools.product(*study.factors.values())]
    networks_compared = any("network" in level for level in study.factors[study.compare.factor].values())
    treatments = []
    for cell in cells:
        parameters = study.parameters(cell)
        link = "" if networks_compared else parameters.network
        runs = [False, True] if _has_twin(study, cell) else [False]
        treatments += [_Treatment(cell, twin, parameters, link) for twin in runs]
    return treatments


def _has_twin(study: Study, cell: dict[str, str]) -> bool:
    """Return whether a cell runs twice. A study of changes has A/A pairs only for the level that changes nothing."""
    changes = study.compare.changes
    unchanged = changes is None or cell[changes] == next(iter(study.factors[changes]))
    return unchanged and cell[study.compare.factor] == study.compare.twin


def _passes_filter(treatment: _Treatment, levels: dict[str, list[str]]) -> bool:
    return all(level in levels[factor] for factor, level in treatment.cell.items())


def _refuse_endless(study: Study, treatment: _Treatment) -> None:
    limit = treatment.parameters.trial_timeout / 1e9
    if study.networks and (expected := own_seconds(treatment.parameters, study.networks)) > limit:
        cell = ", ".join(f"{factor} {level}" for factor, level in treatment.cell.items())
        raise UserError(
            f"study {study.name}: a trial of {cell} would take about {format_span(expected)}, longer than its"
            f" trial_timeout of {format_span(limit)}",
            remedy="raise `trial_timeout` in the study's settings, or make the trial smaller",
        )


def _refuse_without_ipv6(study: Study, parameters: Parameters) -> None:
    network = study.networks.get(parameters.network)
    if parameters.address != "ipv4" and network and (fault := _ipv6_fault(network)):
        raise UserError(
            f"study {study.name}: network {network.name} carries no IPv6, because {fault}",
            remedy="write `address: ipv4` there, or choose another network",
        )


def _ipv6_fault(network: Network) -> str | None:
    """Return why the network carries no IPv6, or None if it does."""
    if network.moves:
        return "its client moves (`moves`), which works only over IPv4"
    ways = [way for way in (network.up, network.down) if way]
    limits = [limit for way in ways for limit in (way.mtu, *(change.mtu for change in way.changes or []))]
    if any(limit and limit.bytes < LEAST_IPV6_MTU for limit in limits):
        return f"its `mtu` is less than the {LEAST_IPV6_MTU} bytes that IPv6 needs"
    return None


def _block(
    study: Study, treatments: list[_Treatment], levels: dict[str, list[str]], seed: int, number: int
) -> list[PlannedTrial]:
    """Return one block in the order of execution. A trial keeps its position in the unfiltered block, so a filter
    leaves gaps."""
    order = sorted(treatments, key=lambda treatment: treatment.order(seed, number))
    return [
        PlannedTrial(
            id=_trial_id(number, position, treatment, study.compare.factor),
            block=number,
            position=position,
            cell=treatment.cell,
            twin=treatment.twin,
            parameters=treatment.parameters,
            link_seed=_draw("link", seed, number, treatment.link),
            lost_at=spread(_draw("lost", seed) / 2**53, number),
            random=_random(study, number, treatment),
            moment=spread(_draw("moment", seed) / 2**53, number),
        )
        for position, treatment in enumerate(order, 1)
        if _passes_filter(treatment, levels)
    ]


def _random(study: Study, number: int, treatment: _Treatment) -> str | None:
    """Return a seed that all trials of a block share if they differ only in a change, so that their programs draw the
    same random numbers. None if the study makes no changes."""
    if study.compare.changes is None:
        return None
    words = [f"{factor}={level}" for factor, level in treatment.cell.items() if factor != study.compare.changes]
    return " ".join([str(number), *words, f"twin={treatment.twin}"])


def _draw(purpose: str, *words: object) -> int:
    """Return a number that is uniform over [0, 2^53) and depends only on the arguments."""
    digest = hashlib.sha256("\0".join(["h123", purpose, *map(str, words)]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11


def _trial_id(block: int, position: int, treatment: _Treatment, compared: str) -> str:
    """Return an ID such as `b01-t03-poor-h3`. Block and position make it unique, whatever the levels are called."""
    levels = [level for factor, level in treatment.cell.items() if factor != compared] + [treatment.cell[compared]]
    words = "-".join(re.sub(r"[^a-z0-9._+]+", "-", level.lower()) for level in levels)
    twin = "-twin" if treatment.twin else ""
    return f"b{block:02}-t{position:02}-{words[:MAX_ID_LENGTH]}{twin}"


def timeless(parameters: Parameters, networks: Mapping[str, Network]) -> bool:
    """Return whether requests take no time in a trial with these parameters. Networks that are not in `networks` count
    as taking time.

    Under the virtual clock, processing takes no time. If the link takes none either, each reading of the clock still
    adds a few microseconds. The ratio of two measured times then only shows how often programs read the clock.
    """
    profiles = [networks.get(name) for name in parameters.networks()]
    return parameters.clock == "virtual" and all(network and not network.takes_time for network in profiles)


def timeless_note(trials: Iterable[Parameters], networks: Mapping[str, Network]) -> str | None:
    """Return the plan's note about trials in which requests take no time, or None."""
    names = dict.fromkeys(p.network for p in trials if timeless(p, networks))
    if not names:
        return None
    return (
        f"under the virtual clock nothing takes time over {', '.join(names)}, which has no delay and no rate. Times "
        "get no verdict there, unless a program itself waits, such as a handler that sleeps; leave it out (--filter), "
        "or use the wall clock"
    )
