"""From a study to its trials: randomised complete blocks.

Each block runs every treatment of every cell once, and the twin of each cell once more, all in one random order.
Order and seeds come out of SHA-256 alone, so they are the same on every machine and with every version of every library:

* a treatment's place in its block is the rank of hash(seed, block, treatment);
* the link's seed is hash(seed, block, network): all treatments that are compared within a block meet the same packet fates.

Neither depends on how many blocks there are or on what else is in them. So a longer campaign extends a shorter one, and one
that is filtered with `only` is a part of the whole one: same names, same seeds, same relative order.
"""

import hashlib
import itertools
import re
from dataclasses import dataclass, field

from h123.errors import UserError
from h123.study.document import choose
from h123.study.parameters import Parameters
from h123.study.study import Study, split_pair

Only = dict[str, list[str]]


@dataclass(frozen=True)
class PlannedTrial:
    """One treatment, to be executed once."""

    id: str
    """Unique in the campaign and fit for a file's name: block, place in the block, levels."""
    block: int
    """From 1."""
    position: int
    """Place in the whole block's order, from 1; a filtered plan keeps it, with gaps."""
    cell: dict[str, str]
    """Factor to level."""
    twin: bool
    """Whether this is the second run of the level that runs twice."""
    parameters: Parameters
    link_seed: int
    """Seed of the link's random draws, below 2^53 so that any JSON reader keeps it."""


@dataclass(frozen=True)
class Plan:
    """All trials of a campaign, each block in the order of execution."""

    study: Study
    seed: int
    only: Only
    blocks: list[list[PlannedTrial]]
    pairs: list[str]
    """The pairs of the study that the filter leaves."""
    notes: list[str] = field(default_factory=list)
    """What the person should know: pairs that the filter dropped."""

    def trials(self) -> list[PlannedTrial]:
        """In the order of execution."""
        return list(itertools.chain.from_iterable(self.blocks))


def parse_only(options: list[str]) -> Only:
    """`FACTOR=LEVEL[,LEVEL]` options as factor to levels. Raises UserError."""
    only: Only = {}
    for option in options:
        factor, equals, levels = option.partition("=")
        names = [name.strip() for name in levels.split(",") if name.strip()]
        if not (equals and factor.strip() and names):
            raise UserError(f"--only {option}: write FACTOR=LEVEL or FACTOR=LEVEL,LEVEL, as in network=lan,poor")
        only.setdefault(factor.strip(), []).extend(names)
    return only


def make_plan(study: Study, *, blocks: int | None = None, seed: int | None = None, only: Only | None = None) -> Plan:
    """The trials of a study. `blocks` and `seed` replace the study's own; `only` keeps the named levels.

    Raises UserError where a filter names an unknown factor or level, or leaves nothing to compare.
    """
    count = study.blocks if blocks is None else blocks
    chosen_seed = study.seed if seed is None else seed
    if count < 1:
        raise UserError(f"--blocks {count}: a campaign needs at least 1 block, and a verdict at least 6")
    if not 0 <= chosen_seed < 2**53:
        raise UserError(f"--seed {chosen_seed}: a seed is a whole number from 0 to {2**53 - 1}")
    kept = _kept_levels(study, only or {})
    pairs, notes = _kept_pairs(study, kept[study.compare.factor])
    return Plan(
        study=study,
        seed=chosen_seed,
        only=only or {},
        blocks=[_block(study, chosen_seed, number, kept) for number in range(1, count + 1)],
        pairs=pairs,
        notes=notes,
    )


def _kept_levels(study: Study, only: Only) -> dict[str, list[str]]:
    kept = {factor: list(levels) for factor, levels in study.factors.items()}
    for factor, names in only.items():
        if factor not in kept:
            raise UserError(f"--only {factor}=...: not a factor of study {study.name}; {choose(factor, kept)}")
        for name in names:
            if name not in study.factors[factor]:
                raise UserError(f"--only {factor}={name}: no such level; {choose(name, study.factors[factor])}")
        kept[factor] = [level for level in kept[factor] if level in names]
    return kept


def _kept_pairs(study: Study, levels: list[str]) -> tuple[list[str], list[str]]:
    pairs = [pair for pair in study.compare.pairs if all(level in levels for level in split_pair(pair))]
    dropped = [pair for pair in study.compare.pairs if pair not in pairs]
    if not pairs:
        raise UserError(
            f"--only leaves nothing to compare: with {study.compare.factor}={','.join(levels)} no pair of"
            f" {', '.join(study.compare.pairs)} is whole",
            remedy=f"keep two levels of {study.compare.factor} that are a pair",
        )
    notes = [f"--only leaves these pairs out: {', '.join(dropped)}"] if dropped else []
    if study.compare.twin not in levels:
        notes.append(f"--only leaves the twin {study.compare.twin} out: this campaign has no A/A pair")
    return pairs, notes


def _block(study: Study, seed: int, number: int, kept: dict[str, list[str]]) -> list[PlannedTrial]:
    treatments = _treatments(study)
    treatments.sort(key=lambda treatment: _draw("order", seed, number, *_words(*treatment)))
    trials = []
    for position, (cell, twin) in enumerate(treatments, 1):
        if all(level in kept[factor] for factor, level in cell.items()):
            trials.append(
                PlannedTrial(
                    id=_trial_id(number, position, cell, twin, study.compare.factor),
                    block=number,
                    position=position,
                    cell=cell,
                    twin=twin,
                    parameters=study.parameters(cell),
                    link_seed=_draw("link", seed, number, _shared_network(study, cell)),
                )
            )
    return trials


def _treatments(study: Study) -> list[tuple[dict[str, str], bool]]:
    """Every combination of levels, and once more those with the twin's level."""
    cells = [dict(zip(study.factors, levels, strict=True)) for levels in itertools.product(*study.factors.values())]
    twins = [cell for cell in cells if cell[study.compare.factor] == study.compare.twin]
    return [(cell, False) for cell in cells] + [(cell, True) for cell in twins]


def _shared_network(study: Study, cell: dict[str, str]) -> str:
    """What seeds the link besides seed and block: the network, unless networks themselves are compared."""
    if any("network" in level for level in study.factors[study.compare.factor].values()):
        return ""
    return study.parameters(cell).network


def _draw(purpose: str, *words: object) -> int:
    """A number that is uniform over [0, 2^53) and fixed by its arguments."""
    digest = hashlib.sha256("\0".join(["h123", purpose, *map(str, words)]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11


def _words(cell: dict[str, str], twin: bool) -> list[str]:
    return [*(f"{factor}={cell[factor]}" for factor in sorted(cell)), f"twin={twin}"]


def _trial_id(block: int, position: int, cell: dict[str, str], twin: bool, compared: str) -> str:
    """`b01-t03-poor-h3`; unique by block and position, whatever the levels are called."""
    levels = [level for factor, level in cell.items() if factor != compared] + [cell[compared]]
    words = [re.sub(r"[^a-z0-9._+]+", "-", level.lower()) for level in levels]
    return "-".join([f"b{block:02}", f"t{position:02}", *words, *(["twin"] if twin else [])])
