"""Plans are randomised complete blocks, fixed by seed and block number alone."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from h123.base.errors import UserError
from h123.study import Comparison, Plan, PlannedTrial, Study, estimate, load_study, make_plan, parse_filter
from study.samples import STUDY, sample_study, write

SEEDS = st.integers(0, 2**53 - 1)


def _study(levels: int, networks: int, loads: int) -> Study:
    """A study without a file: the protocol does not vary, the size is compared."""
    names = [f"s{index}" for index in range(levels)]
    settings = {"protocol": "h2", "server": "go", "client": "go", "network": "lan"}
    return Study(
        name="made",
        question="?",
        factors={
            "object": {name: {"size": index + 1} for index, name in enumerate(names)},
            "network": {f"n{index}": {"network": f"n{index}"} for index in range(networks)},
            "load": {f"l{index}": {"users": index + 1} for index in range(loads)},
        },
        settings=settings,
        compare=Comparison(factor="object", pairs=["s1/s0"], twin="s0"),
        blocks=2,
    )


STUDIES = st.builds(_study, st.integers(2, 4), st.integers(1, 3), st.integers(1, 3))


def _treatments(plan: Plan, block: int) -> Counter[tuple[str, ...]]:
    return Counter((*trial.cell.values(), str(trial.twin)) for trial in plan.blocks[block])


@given(STUDIES, SEEDS, st.integers(1, 5))
def test_each_block_runs_each_treatment_once(study: Study, seed: int, blocks: int) -> None:
    plan = make_plan(study, blocks=blocks, seed=seed)
    cells = 1
    for levels in study.factors.values():
        cells *= len(levels)
    twins = cells // len(study.factors["object"])
    for index, block in enumerate(plan.blocks):
        counted = _treatments(plan, index)
        assert set(counted.values()) == {1}
        assert len(counted) == cells + twins
        assert sum(trial.twin for trial in block) == twins
        assert all(trial.cell["object"] == "s0" for trial in block if trial.twin)
        assert [trial.position for trial in block] == list(range(1, len(block) + 1))
        assert {trial.block for trial in block} == {index + 1}
        assert all(trial.parameters == study.parameters(trial.cell) for trial in block)


@given(STUDIES, SEEDS, st.integers(1, 4), st.integers(1, 4))
def test_a_longer_campaign_extends_a_shorter_one(study: Study, seed: int, short: int, more: int) -> None:
    longer = make_plan(study, blocks=short + more, seed=seed)
    assert longer.blocks[:short] == make_plan(study, blocks=short, seed=seed).blocks


@given(STUDIES, SEEDS)
def test_a_filtered_campaign_is_a_part_of_the_whole(study: Study, seed: int) -> None:
    only = {"network": ["n0"], "load": list(study.factors["load"])[-1:]}
    whole = make_plan(study, seed=seed)
    kept = [t for t in whole.trials() if t.cell["network"] == "n0" and t.cell["load"] in only["load"]]
    assert make_plan(study, seed=seed, level_filter=only).trials() == kept


@given(STUDIES, SEEDS)
def test_what_is_compared_meets_the_same_packet_fates(study: Study, seed: int) -> None:
    plan = make_plan(study, seed=seed, blocks=3)
    seeds: dict[tuple[int, str], set[int]] = {}
    for trial in plan.trials():
        assert 0 <= trial.link_seed < 2**53
        seeds.setdefault((trial.block, trial.parameters.network), set()).add(trial.link_seed)
    assert all(len(shared) == 1 for shared in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds)


@given(SEEDS)
def test_where_networks_are_compared_they_share_a_seed(seed: int) -> None:
    study = _study(2, 3, 1).model_copy(update={"compare": Comparison(factor="network", pairs=["n1/n0"], twin="n0")})
    for block in make_plan(study, seed=seed).blocks:
        assert len({trial.link_seed for trial in block}) == 1


@given(SEEDS)
def test_wall_and_virtual_trials_of_a_cell_meet_the_same_packet_fates(seed: int) -> None:
    study = _study(2, 1, 1)
    clocks = {"clock": {name: {"clock": name} for name in ("wall", "virtual")}}
    study = study.model_copy(update={"factors": {**study.factors, **clocks}})
    plan = make_plan(study, seed=seed)
    for block in plan.blocks:
        assert {trial.parameters.clock for trial in block} == {"wall", "virtual"}
        assert len({trial.link_seed for trial in block}) == 1
    alone = make_plan(study, seed=seed, level_filter={"clock": ["wall"]})
    assert alone.trials() == [trial for trial in plan.trials() if trial.parameters.clock == "wall"]


@given(STUDIES, SEEDS)
def test_names_are_unique_and_fit_for_files(study: Study, seed: int) -> None:
    names = [trial.id for trial in make_plan(study, seed=seed).trials()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9._+-]{1,150}", name) for name in names)


def test_order_is_uniform() -> None:
    """Each treatment at each place equally often. Chi-squared; the seed is fixed, so this cannot fail by chance."""
    study = _study(3, 1, 1)
    blocks, places = 4000, 4
    counts = Counter((t.cell["object"], t.twin, t.position) for t in make_plan(study, blocks=blocks, seed=1).trials())
    expected = blocks / places
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert len(counts) == places**2
    assert statistic < 27.88  # 99.9 % quantile with (4 - 1)^2 = 9 degrees of freedom


def test_the_order_never_changes_between_versions(tmp_path: Path) -> None:
    """Old campaigns are resumed with this: whoever changes these names breaks them."""
    plan = make_plan(sample_study(tmp_path), level_filter={"network": ["poor"], "load": ["heavy"]})
    assert [trial.id for trial in plan.blocks[0]] == [
        "b01-t03-poor-heavy-h2-twin",
        "b01-t07-poor-heavy-h3",
        "b01-t10-poor-heavy-h1",
        "b01-t13-poor-heavy-h2",
    ]
    assert plan.blocks[0][0].link_seed == 2814081511505977


def test_blocks_and_seed_can_be_replaced(tmp_path: Path) -> None:
    study = sample_study(tmp_path)
    plan = make_plan(study, blocks=5, seed=9)
    assert (len(plan.blocks), plan.seed) == (5, 9)
    assert plan.blocks[0] != make_plan(study).blocks[0]
    assert make_plan(study).seed == study.seed


def test_filter_says_what_it_drops(tmp_path: Path) -> None:
    study = sample_study(tmp_path)
    plan = make_plan(study, level_filter={"protocol": ["h1", "h3"]})
    assert plan.pairs == ["h3/h1"]
    assert plan.notes[:2] == [
        "--filter drops these comparisons: h3/h2",
        "--filter drops the twin, h2: this campaign has no A/A pair",
    ]
    assert not any(trial.twin for trial in plan.trials())


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ({"protocol": ["h1", "h2"]}, "nothing to compare"),
        ({"protocol": ["h4"]}, "no such level"),
        ({"protocl": ["h3"]}, "did you mean protocol?"),
    ],
)
def test_filter_that_cannot_be(tmp_path: Path, only: dict[str, list[str]], said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        make_plan(sample_study(tmp_path), level_filter=only)


@pytest.mark.parametrize(("blocks", "seed"), [(0, None), (-1, None), (None, -1), (None, 2**53)])
def test_blocks_and_seeds_that_cannot_be(tmp_path: Path, blocks: int | None, seed: int | None) -> None:
    with pytest.raises(UserError, match=r"--(blocks|seed)"):
        make_plan(sample_study(tmp_path), blocks=blocks, seed=seed)


def test_only_as_written() -> None:
    assert parse_filter(["a=b, c", "a=d", "e=f"]) == {"a": ["b", "c", "d"], "e": ["f"]}
    for wrong in ("a", "a=", "=b", "a=,"):
        with pytest.raises(UserError, match="FACTOR=LEVEL"):
            parse_filter([wrong])


def test_each_clock_checks_its_own_links_once_a_block(tmp_path: Path) -> None:
    text = STUDY.replace("network: [lan, poor]", "network: [poor]\n  clock: [wall, virtual]")
    plan = make_plan(load_study(write(tmp_path, text)), level_filter={"load": ["light"]})
    costs = plan.estimates()
    for block in plan.blocks:
        dearer = [t for t in block if costs[t.id].bytes > estimate(t, plan.study.networks).bytes]
        assert dearer == [next(t for t in block if t.parameters.clock == clock) for clock in _clocks(block)]


def _clocks(block: list[PlannedTrial]) -> list[str]:
    """In the order of their first trials."""
    return list(dict.fromkeys(trial.parameters.clock for trial in block))


def test_trial_that_cannot_end_in_time_is_refused(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, STUDY.replace("size: 10kB", "size: 100MB")))
    with pytest.raises(UserError, match="trial_timeout"):
        make_plan(study)
    make_plan(study, level_filter={"network": ["lan"]})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(min_size=1, max_size=60))
def test_whatever_a_level_is_called_it_is_refused_or_safe(tmp_path: Path, name: str) -> None:
    import yaml

    text = STUDY.replace("light:", yaml.safe_dump(name, default_style='"', width=1000).strip() + ":")
    try:
        plan = make_plan(load_study(write(tmp_path, text)))
    except UserError:
        return
    assert all(re.fullmatch(r"[a-z0-9._+-]+", trial.id) for trial in plan.trials())
