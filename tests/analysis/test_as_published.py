"""The published analysis of whole campaigns, and where it and the sound one part."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import kruskal, mannwhitneyu

from h123.analysis import analyse
from h123.analysis.as_published.agreement import sound_comparison
from h123.analysis.as_published.document import factor_tests
from h123.store import CampaignFolder, connect
from h123.study import Study, make_plan
from synthetic import Scenario, make_campaign

SCENARIO = Scenario(
    seed=5,
    blocks=6,
    as_published=True,
    protocols=("h2", "h3"),
    effects={("poor", "h3"): 0.6},
    trial_noise=0.3,
    invalid=frozenset({"b01-t01-lan-h2"}),
)


Analysed = tuple[CampaignFolder, dict[str, Any]]
"""A campaign, and its verdicts."""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Analysed:
    folder = make_campaign(tmp_path_factory.mktemp("published") / "c", SCENARIO)
    return folder, analyse(folder)


def requests(folder: CampaignFolder, network: str, protocol: str) -> np.ndarray:
    rows = connect(folder).execute(
        "SELECT (end_ns - start_ns) / 1e9 FROM samples JOIN analysed USING (trial, attempt) "
        "WHERE phase = 'warm' AND NOT twin AND cell_network = $n AND cell_protocol = $p",
        {"n": network, "p": protocol},
    )
    return np.array([value for (value,) in rows.fetchall()])


def row(verdicts: dict[str, Any], metric: str, network: str) -> dict[str, Any]:
    rows = verdicts["as_published"]["comparisons"]
    (found,) = [r for r in rows if r["metric"] == metric and r["cell"] == {"network": network}]
    return dict(found)


def test_pooled_requests_are_those_of_valid_trials_without_the_twin(campaign: Analysed) -> None:
    folder, verdicts = campaign
    for network in ("lan", "medium", "poor"):
        h3, h2 = requests(folder, network, "h3"), requests(folder, network, "h2")
        found = row(verdicts, "latency", network)
        assert (found["a_side"]["n"], found["a_side"]["runs"], len(h3)) == (120, 6, 120)
        expected = mannwhitneyu(h3, h2)
        assert (found["u"], found["p"]) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
        assert found["r_rb"] == pytest.approx(np.sign(h3[:, None] - h2[None, :]).mean())
        assert found["median_difference"] == pytest.approx(np.median(h3) / np.median(h2) - 1)


def test_throughput_is_latency_again(campaign: Analysed) -> None:
    for network in ("lan", "medium", "poor"):
        latency, throughput = (row(campaign[1], metric, network) for metric in ("latency", "throughput"))
        assert throughput["r_rb"] == pytest.approx(-latency["r_rb"])
        assert throughput["p"] == pytest.approx(latency["p"])
        if throughput["sound"]:
            assert throughput["sound"]["ratio"] == pytest.approx(1 / latency["sound"]["ratio"])
            assert throughput["sound"]["low"] <= throughput["sound"]["ratio"] <= throughput["sound"]["high"]


def test_kruskal_wallis_of_every_factor(campaign: Analysed) -> None:
    folder, verdicts = campaign
    tests = verdicts["as_published"]["kruskal_wallis"]
    assert {(t["factor"], t["metric"]) for t in tests} == {
        (factor, metric) for factor in ("protocol", "network") for metric in ("latency", "ttfb", "throughput")
    }
    (found,) = [t for t in tests if t["factor"] == "network" and t["metric"] == "latency"]
    groups = [np.concatenate([requests(folder, n, p) for p in ("h2", "h3")]) for n in ("lan", "medium", "poor")]
    assert (found["h"], found["df"]) == (pytest.approx(kruskal(*groups).statistic), 2)
    assert [(g["level"], g["n"]) for g in found["groups"]] == [("lan", 240), ("medium", 240), ("poor", 240)]


def test_factors_are_tested_within_each_method(campaign: Analysed) -> None:
    """As in the paper: network, load and protocol for POST and for GET apart, and method itself not at all."""
    content = dict(campaign[0].study)
    content["factors"] = {**content["factors"], "method": {m: {"method": m} for m in ("POST", "GET")}}
    content["settings"] = {name: value for name, value in content["settings"].items() if name != "method"}
    plan = make_plan(Study.from_resolved(content), blocks=1, seed=1)
    random = np.random.default_rng(3)
    cells = {tuple(sorted(trial.cell.items())): trial.cell for trial in plan.blocks[0]}
    runs = {key: [random.lognormal(cell["method"] == "POST", 1, 20)] for key, cell in cells.items()}
    tests = list(factor_tests(plan, "latency", runs))
    assert [(t["within"], t["factor"]) for t in tests] == [
        ({"method": method}, factor) for method in ("POST", "GET") for factor in ("protocol", "network")
    ]
    groups = [
        np.concatenate([runs[k][0] for k, c in cells.items() if c["method"] == "GET" and c["protocol"] == p])
        for p in ("h2", "h3")
    ]
    assert tests[2]["h"] == pytest.approx(kruskal(*groups).statistic)
    assert sum(group["n"] for group in tests[2]["groups"]) == 120


def test_runs_that_differ_make_pooled_differences_that_are_none(campaign: Analysed) -> None:
    """With a noise of 30 % between trials the pooled test finds something where nothing is; the sound one does not."""
    published = campaign[1]["as_published"]
    apart = [r for r in published["comparisons"] if r["agrees"] is False and not r["repeats"]]
    assert published["agreement"]["disagree"] == len(apart) > 0
    assert {r["metric"] for r in published["comparisons"] if r["repeats"] == "latency"} == {"throughput"}
    assert all(r["reason"] for r in apart)
    assert all(r["reason"] is None for r in published["comparisons"] if r["agrees"])
    wrong = [r for r in apart if r["sound"]["verdict"] == "inconclusive"]
    assert wrong
    assert "pooling counts 240 requests as independent where there are 6 blocks" in wrong[0]["reason"]
    assert row(campaign[1], "latency", "lan")["note"]


def test_it_is_not_made_unless_asked_for(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = make_campaign(tmp_path_factory.mktemp("unasked") / "c", Scenario(seed=5, blocks=1))
    assert analyse(folder)["as_published"] is None


def sides(verdict: str, difference: float, r_rb: float = 0.5) -> dict[str, Any]:
    side = {"n": 500, "independent": 30.0}
    return {
        "metric": "latency",
        "verdict": verdict,
        "median_difference": difference,
        "r_rb": r_rb,
        "a_side": side,
        "b_side": side,
    }


def sound(verdict: str, ratio: float, low: float, high: float, **more: float) -> dict[str, Any]:
    known = {"metric": "latency", "blocks": 8, "p_adjusted": 0.01, "p_attainable": 1 / 128, "confidence": 0.96}
    return {**known, "verdict": verdict, "ratio": ratio, "low": low, "high": high, **more}


@pytest.mark.parametrize(
    ("published", "other", "words"),
    [
        (sides("faster", -0.3), sound("equivalent", 0.99, 0.98, 1.01), "within the margin of 5 %"),
        (sides("faster", -0.3), sound("inconclusive", 0.9, 0.7, 1.1), "its interval 0.7 – 1.1 contains 1"),
        (sides("faster", -0.3), sound("inconclusive", 0.9, 0.7, 0.98, p_adjusted=0.06), "p is 0.06, above 0.05"),
        (sides("faster", -0.3), sound("inconclusive", 0.9, 0.7, 0.98, p_attainable=0.25), "below 0.25"),
        (sides("faster", -0.3), sound("slower", 1.2, 1.1, 1.3), "point in different directions"),
        (sides("not practical", -0.06), sound("faster", 0.94, 0.9, 0.98), "medians differ by 6.0 %, not 10 %"),
        (sides("not practical", -0.2, -0.2), sound("faster", 0.8, 0.7, 0.9), "|r_rb| is 0.20, not 0.3"),
        (sides("not significant", -0.2), sound("faster", 0.8, 0.7, 0.9), "pairing removes"),
    ],
)
def test_every_disagreement_has_its_reason(published: dict[str, Any], other: dict[str, Any], words: str) -> None:
    found = sound_comparison(published, other, margin=0.05, alpha=0.05)
    assert found["agrees"] is False
    assert words in found["reason"]


@pytest.mark.parametrize(
    ("verdict", "other"),
    [("faster", "faster"), ("not significant", "equivalent"), ("not practical", "inconclusive")],
)
def test_no_difference_does_not_contradict_no_answer(verdict: str, other: str) -> None:
    found = sound_comparison(sides(verdict, -0.01), sound(other, 0.9, 0.8, 0.99), margin=0.05, alpha=0.05)
    assert found["agrees"] is True
    assert found["reason"] is None


def test_what_the_study_does_not_ask_is_not_judged() -> None:
    assert sound_comparison(sides("faster", -0.3), None, 0.05, 0.05) == {"sound": None, "agrees": None, "reason": None}
