"""Claims decided by campaigns whose truth is known, and figures against sums done by hand."""

import itertools
import json
import math
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

from analysis.known_truth import BLOCKS, Effect, case
from h123.analysis.case import Case
from h123.analysis.claims.decisions import decide
from h123.report.text.claims import measured_lines, remarks, statement
from h123.study import Ledger, MeasurableClaim, find_study, ledgers_of, load_ledger, load_study


@pytest.fixture(scope="module")
def rest() -> Ledger:
    ledger, _text = ledgers_of("rest-api")
    return ledger


def rows(ledger: Ledger, of: Case | None) -> dict[str, dict[str, Any]]:
    return {claim["id"]: claim for claim in decide(ledger, of)["claims"]}


def alone(ledger: Ledger, name: str) -> Ledger:
    """The ledger with one claim: no correction."""
    return ledger.model_copy(update={"claims": [claim for claim in ledger.claims if claim.id == name]})


CASES: list[tuple[str, str, Effect, str]] = [
    # C01: latency -31.2 % in one cell; half to twice is -15.6 % to -62.4 %.
    ("C01", "latency", 0.688, "confirmed"),
    ("C01", "latency", 0.80, "confirmed"),
    ("C01", "latency", 0.90, "direction only"),
    ("C01", "latency", 0.30, "direction only"),
    ("C01", "latency", 1.0, "refuted"),
    ("C01", "latency", 0.98, "refuted"),
    ("C01", "latency", 1.5, "refuted"),
    # Only its own cell counts.
    ("C01", "latency", lambda cell: 0.688 if cell["network"] == "poor" else 2.0, "confirmed"),
    # C02: +29.3 %; to +58.6 %.
    ("C02", "latency", 1.293, "confirmed"),
    ("C02", "latency", 2.0, "direction only"),
    ("C02", "latency", 0.8, "refuted"),
    # C03: the mean over 24 cells, here of the logarithm.
    ("C03", "ttfb", 0.645, "confirmed"),
    ("C03", "ttfb", lambda cell: 0.3 if cell["network"] == "poor" else 1.0, "confirmed"),
    ("C03", "ttfb", lambda cell: 0.5 if cell["load"] == "low" else 2.0, "refuted"),
    # C04: -14.3 % of goodput.
    ("C04", "goodput", 0.857, "confirmed"),
    ("C04", "goodput", 1.2, "refuted"),
    # C05: h3 / h2 at high load over h3 / h2 at low load, whatever the ratio at low load.
    ("C05", "latency", lambda cell: 0.6 if cell["load"] == "high" else 0.9, "confirmed"),
    ("C05", "latency", 0.6, "refuted"),
    ("C05", "latency", lambda cell: 0.9 if cell["load"] == "high" else 0.6, "refuted"),
    # C06: goodput within 10 % in each of 8 cells.
    ("C06", "goodput", 1.05, "confirmed"),
    ("C06", "goodput", lambda cell: 1.3 if cell["size"] == "2MB" else 1.0, "refuted"),
    ("C06", "goodput", lambda cell: 1.3 if cell["method"] == "GET" else 1.0, "confirmed"),
    ("C06", "goodput", 1.1, "undecided"),
]


@pytest.mark.parametrize(("claim", "metric", "effect", "verdict"), CASES)
def test_the_truth_is_found(rest: Ledger, claim: str, metric: str, effect: Effect, verdict: str) -> None:
    row = rows(alone(rest, claim), case({metric: effect}))[claim]
    assert row["verdict"] == verdict, row
    assert row["blocks"] == BLOCKS
    assert (row["reason"] is None) == (verdict == "confirmed")


@pytest.mark.parametrize("claim", ["C01", "C02", "C04", "C06"])
def test_much_noise_decides_nothing(rest: Ledger, claim: str) -> None:
    row = rows(alone(rest, claim), case(noise=0.6))[claim]
    assert row["verdict"] == "undecided"
    assert row["p_adjusted"] > 0.05
    assert "above 0.0469" in row["reason"] or "reaches beyond the margin" in row["reason"]


def test_a_side_that_always_fails_has_no_bound_and_ends_no_analysis(rest: Ledger) -> None:
    row = rows(alone(rest, "C01"), case({"latency": math.inf}))["C01"]
    assert row["verdict"] == "refuted"
    (figure,) = row["figures"]
    assert (figure["ratio"], figure["low"], figure["high"]) == (None, None, None)
    json.dumps(row, allow_nan=False)
    assert measured_lines(row)[0].startswith("measured: without bound (95 %: without bound to without bound)")


def by_hand(values: list[float]) -> tuple[float, float]:
    """Hodges-Lehmann by its definition, and the signed-rank p by counting."""
    walsh = [(x + y) / 2 for x, y in itertools.combinations_with_replacement(values, 2)]
    ranks = {value: rank for rank, value in enumerate(sorted(values, key=abs), start=1)}
    observed = abs(sum(math.copysign(rank, value) for value, rank in ranks.items()))
    signs = itertools.product((1, -1), repeat=len(values))
    sums = [abs(sum(s * rank for s, rank in zip(chosen, ranks.values(), strict=True))) for chosen in signs]
    return statistics.median(walsh), sum(found >= observed for found in sums) / len(sums)


def test_means_and_interactions_are_one_value_a_block(rest: Ledger) -> None:
    campaign = case({"ttfb": 0.9, "latency": 0.97}, noise=0.4, seed=6)
    log = {
        (a.block, a.cell["protocol"], a.cell["method"], a.cell["size"], a.cell["load"], a.cell["network"]): {
            name: math.log(value or 0) for name, value in a.metrics.items()
        }
        for a in campaign.trials.attempts
        if not a.twin
    }
    factors = [list(campaign.plan.study.factors[name]) for name in ("method", "size", "load", "network")]

    def ratio(block: int, metric: str, *cell: str) -> float:
        return log[block, "h3", *cell][metric] - log[block, "h2", *cell][metric]

    blocks = range(1, BLOCKS + 1)
    means = [statistics.mean(ratio(b, "ttfb", *cell) for cell in itertools.product(*factors)) for b in blocks]
    contrasts = [
        statistics.mean(
            ratio(b, "latency", m, s, "high", "poor") - ratio(b, "latency", m, s, "low", "poor")
            for m, s in itertools.product(*factors[:2])
        )
        for b in blocks
    ]
    found = rows(rest, campaign)
    for name, values in (("C03", means), ("C05", contrasts)):
        centre, p = by_hand(values)
        assert 0.01 < p < 1  # noise enough for p to say something
        assert math.log(found[name]["figures"][0]["ratio"]) == pytest.approx(centre)
        assert found[name]["p"] == pytest.approx(p)


def test_holm_is_over_the_claims_that_the_campaign_was_to_measure(rest: Ledger) -> None:
    document = decide(rest, case(noise=0.3, seed=4))
    p = {row["id"]: row["p"] for row in document["claims"] if row["p"] is not None}
    assert document["family_size"] == len(p) == 6
    worst, adjusted = 0.0, {}
    for place, name in enumerate(sorted(p, key=lambda one: p[one])):
        worst = max(worst, min(1.0, p[name] * (6 - place)))
        adjusted[name] = worst
    assert {row["id"]: row["p_adjusted"] for row in document["claims"] if row["p"] is not None} == pytest.approx(
        adjusted
    )
    lone = decide(rest, case(only={"network": ["baseline"], "method": ["GET"]}))
    assert lone["family_size"] == 1
    # What is still to be measured keeps its place in the family.
    half = decide(rest, case(lost=lambda cell: cell["network"] != "baseline"))
    assert half["family_size"] == 6


def test_a_claim_that_rests_on_the_observation_of_another_counts_once_with_it(rest: Ledger) -> None:
    """Latency and goodput of the same cells are one number in a closed loop."""
    (latency,) = alone(rest, "C01").claims
    told_twice = {"id": "C09", "metric": "goodput", "direction": "higher", "size": None}
    goodput = latency.model_copy(update=told_twice)
    elsewhere = goodput.model_copy(update={"id": "C10", "cells": {**latency.cells, "network": ["medium"]}})
    ledger = rest.model_copy(update={"claims": [*rest.claims, goodput, elsewhere]})
    of = case({"latency": 0.7, "goodput": 1 / 0.7}, noise=0.1)
    found = decide(ledger, of)
    by_id = {row["id"]: row for row in found["claims"]}
    assert found["family_size"] == decide(rest, of)["family_size"] + 1
    assert {name: row["repeats"] for name, row in by_id.items() if row["repeats"]} == {"C09": "C01"}
    assert by_id["C09"]["p_adjusted"] >= by_id["C01"]["p_adjusted"]
    assert any(line.startswith("rests on the same observation as C01") for line in remarks(by_id["C09"]))


def within_or_lower(rest: Ledger) -> Ledger:
    """Claims that the same observation is within 10 %, and that it is lower, which cannot be told together."""
    (first,) = alone(rest, "C01").claims
    told = {"C11": {"direction": "equivalent", "margin": 0.1}, "C12": {"direction": "lower"}}
    claims = [first.model_copy(update={"id": name, "size": None, **one}) for name, one in told.items()]
    return rest.model_copy(update={"claims": claims})


def test_a_direction_is_not_kept_from_its_verdict_by_a_margin(rest: Ledger) -> None:
    found = decide(within_or_lower(rest), case({"latency": 0.7}, noise=0.05))
    assert {row["id"]: row["verdict"] for row in found["claims"]} == {"C11": "refuted", "C12": "confirmed"}
    assert (found["family_size"], found["claims"][1]["repeats"]) == (1, "C11")


@pytest.mark.parametrize("ratio", [1.1, 1.0, 1 / 1.1])
def test_a_margin_and_a_direction_together_err_no_more_often_than_one_claim(rest: Ledger, ratio: float) -> None:
    """Where both are untrue (1.1), or one of them; of 200 campaigns, as many as one of 10 000 sets of them has."""
    ledger, false = within_or_lower(rest), {"C11"} if ratio < 1 else {"C12"} if ratio == 1 else {"C11", "C12"}
    wrong = 0
    for seed in range(200):
        rows = decide(ledger, case({"latency": ratio}, noise=0.1, seed=seed))["claims"]
        wrong += any(row["verdict"] == "confirmed" for row in rows if row["id"] in false)
    assert wrong <= int(binom.ppf(0.9999, 200, 0.05))


def test_the_order_in_which_claims_name_their_cells_and_sides_makes_no_other_observation(rest: Ledger) -> None:
    (first,) = alone(rest, "C01").claims
    assert isinstance(first, MeasurableClaim)
    cells, against = {**first.cells, "network": ["medium", "poor"]}, {"network": ["baseline"]}
    named = {
        "C11": {"cells": cells},
        "C12": {"cells": {**cells, "network": ["poor", "medium"]}, "a": first.b, "b": first.a},
        "C13": {"cells": {**cells, "network": ["poor"]}, "against": against},
        "C14": {"cells": {**cells, "network": ["baseline"]}, "against": {"network": ["poor"]}},
        "C15": {"cells": {**cells, "network": ["poor"]}, "against": {"network": ["medium"]}},
    }
    claims = [first.model_copy(update={"id": name, "size": None, **told}) for name, told in named.items()]
    found = decide(rest.model_copy(update={"claims": claims}), case(noise=0.1))
    assert {row["id"]: row["repeats"] for row in found["claims"] if row["repeats"]} == {"C12": "C11", "C14": "C13"}
    assert found["family_size"] == 3


def test_eight_blocks_are_enough_for_six_claims(rest: Ledger) -> None:
    """The truth of all six at once: each must have the smallest p that there is."""
    truth: dict[str, Effect] = {
        "latency": lambda cell: {"baseline": 1.293, "medium": 1, "poor": 0.688 if cell["load"] == "high" else 0.9}[
            cell["network"]
        ],
        "ttfb": 0.645,
        "goodput": lambda cell: 0.857 if cell["method"] == "GET" else 1.0,
    }
    found = rows(rest, case(truth))
    assert [found[f"C0{number}"]["verdict"] for number in range(1, 7)] == ["confirmed"] * 6
    assert found["C01"]["p_adjusted"] == pytest.approx(5 * 2 / 2**8)  # C06, one-sided, has a smaller p


def test_six_blocks_are_too_few_for_six_claims(rest: Ledger) -> None:
    row = rows(rest, case({"latency": 0.688}, blocks=6))["C01"]
    assert (row["verdict"], row["blocks"]) == ("undecided", 6)
    assert row["reason"] == "no p from 6 blocks can be small enough after Holm over 6 claims: run `--blocks 12`"


def test_what_cannot_decide_says_why(rest: Ledger) -> None:
    few = rows(rest, case(blocks=5))["C01"]
    assert (few["verdict"], few["blocks"], few["p"]) == ("undecided", 5, None)
    assert few["reason"] == "5 blocks have latency of both h3 and h2, a verdict needs 6: run `--blocks 6`"
    assert len(few["figures"]) == 1

    absent = rows(rest, case(only={"network": ["baseline", "medium"]}))
    assert absent["C01"]["reason"] == "1 of its 1 cells are not in this campaign: GET 2MB high poor"
    assert "8 of its 24 cells are not in this campaign" in absent["C03"]["reason"]
    assert absent["C04"]["verdict"] == "refuted"

    lost = rows(rest, case(lost=lambda cell: cell == {**cell, "size": "2MB", "network": "poor", "protocol": "h3"}))
    assert lost["C01"]["reason"].startswith("0 blocks have latency of both h3 and h2")
    assert "too few valid trials in POST 2MB low poor, POST 2MB high poor" in lost["C03"]["reason"]
    assert lost["C02"]["verdict"] == "refuted"
    assert {lost[name]["verdict"] for name in ("C01", "C03", "C05", "C06")} == {"undecided"}

    empty = rows(rest, case(lost=lambda _: True))
    assert {row["verdict"] for row in empty.values()} == {"undecided", "impossible"}


def test_a_campaign_of_another_study_decides_nothing(rest: Ledger) -> None:
    found = decide(rest, case(study="misplaced-tc", scale=0.1))
    assert found["family_size"] == 0
    measurable = [row for row in found["claims"] if row["estimand"].startswith("h3 / h2")]
    assert len(measurable) == 6
    for row in measurable:
        assert row["verdict"] == "undecided"
        assert row["reason"] == "this is a campaign of study misplaced-tc; the claim needs one of rest-api"


def test_the_scale_and_its_requests_are_told(rest: Ledger) -> None:
    found = decide(rest, case(scale=0.1))
    assert found["scale"] == 0.1
    by_id = {row["id"]: row for row in found["claims"]}
    assert (by_id["C01"]["requests"], by_id["C03"]["requests"]) == ([2], [2])
    assert rows(rest, case())["C03"]["requests"] == [20, 25]


def test_without_a_campaign_arithmetic_alone_decides() -> None:
    found = {row["id"]: row for ledger in ledgers_of() for row in decide(ledger)["claims"]}
    impossible = {name for name, row in found.items() if row["verdict"] == "impossible"}
    assert {"C01a", "C01b", "C02a", "C04a", "C07a", "C08", "C08a", "C08c", "C10", "C10a", "C17"} <= impossible
    assert {"N04", "N07", "N08", "N12", "N40", "N46", "R05", "R14", "R20", "R32"} <= impossible
    assert found["N40"]["arithmetic"][0]["shown"] == "42000 x 0.05 = 2100; 18000 printed"
    assert found["C01"]["reason"] == "a campaign of study rest-api with 6 blocks or more"


def test_a_claim_in_words_is_decided_one_way() -> None:
    """By its arithmetic alone, by a document, by nobody; anything else waits for a campaign."""
    found = {row["id"]: row for ledger in ledgers_of() for row in decide(ledger)["claims"]}
    assert (found["P01"]["verdict"], found["P01"]["reason"]) == ("holds", None)
    assert found["P01"]["arithmetic"][0]["shown"] == "11 x 0.1424 = 1.566; 1.5 printed"
    assert (found["N32"]["verdict"], found["N36"]["verdict"]) == ("confirmed", "refuted")
    assert remarks(found["N36"]) == ["Node's documentation of tls.createServer: sessionTimeout, default 300 seconds"]
    assert found["N47"]["verdict"] == "untestable"
    assert remarks(found["N47"])[0].startswith("a census of other people's traffic")
    assert remarks(found["R25"])[0].startswith("decided by: campaigns that compare network and size")


def test_impossible_as_printed_and_yet_decided(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("""h123: claims/1
source: {title: t, where: w}
study: rest-api
claims:
  - id: C1
    quotation: Half the time, at 200 Mbit/s over 10.
    metric: latency
    a: h3
    b: h2
    direction: lower
    size: -50 %
    cells: {network: poor, method: GET, size: 2MB, load: high}
    checks:
      - {check: rate-within-link, rps: 12.5, size: 2MB, link: 10Mbit/s}
""")
    ledger = load_ledger(file)
    row = rows(ledger, case({"latency": 0.5}))["C1"]
    assert (row["verdict"], row["possible"]) == ("confirmed", False)
    assert rows(ledger, None)["C1"]["verdict"] == "impossible"


@pytest.fixture(scope="module")
def curl() -> Ledger:
    (ledger,) = ledgers_of("scorecard")
    return ledger


def of(level: str, other: float, where: str = "", elsewhere: float = 1.0) -> Effect:
    """The level's goodput where the load's name begins so, and where it does not; all others have 1."""
    return lambda cell: (other if cell["load"].startswith(where) else elsewhere) if cell["curl"] == level else 1.0


CURL: list[tuple[str, Effect, str]] = [
    ("C11", of("quiche", 1.05), "confirmed"),
    ("C11", of("quiche", 1.2, "serial-10MiB"), "refuted"),
    ("C11", of("quiche", 1.2, "parallel"), "confirmed"),
    ("C11a", of("openssl", 0.9), "confirmed"),
    ("C11a", of("openssl", 1.1), "refuted"),
    # Not lower by more than 50 %: two thirds, in each size. How much higher does not matter.
    ("C11b", of("openssl", 0.75), "confirmed"),
    ("C11b", of("openssl", 3.0), "confirmed"),
    ("C11b", of("openssl", 0.6, "serial-1MiB"), "refuted"),
    # Not higher by more than 10 % at any parallelism than at 6, whatever it is beside the others.
    ("C12", of("openssl", 0.5), "confirmed"),
    ("C12", of("openssl", 0.3, "requests", 1.0), "confirmed"),
    ("C12", lambda cell: 0.5 if cell["load"] == "requests-300" else 1.0, "confirmed"),
    ("C12", of("openssl", 1.3, "requests-300"), "refuted"),
    ("C12", of("ngtcp2", 1.3, "requests-300"), "confirmed"),
    ("C12a", of("ngtcp2", 1.3, "requests-300"), "confirmed"),
    ("C12a", of("ngtcp2", 0.7, "requests-300"), "refuted"),
    ("C12b", of("ngtcp2", 1.3, "requests-300"), "refuted"),
    # A lead that grows from serial to parallel.
    ("C12e", of("ngtcp2", 2.0, "parallel"), "confirmed"),
    ("C12e", of("ngtcp2", 2.0), "refuted"),
    ("C13", of("ngtcp2", 0.7), "confirmed"),
    ("C13a", of("h1", 2.0), "confirmed"),
    ("C13a", of("h1", 0.5), "refuted"),
    ("C13b", of("h1-6", 0.7), "confirmed"),
    ("C13b", of("h1-6", 1.2), "refuted"),
]


@pytest.mark.parametrize(("claim", "effect", "verdict"), CURL)
def test_the_truth_about_curl_is_found(curl: Ledger, claim: str, effect: Effect, verdict: str) -> None:
    row = rows(alone(curl, claim), case({"goodput": effect}, study="scorecard", only={"server": ["caddy"]}))[claim]
    assert row["verdict"] == verdict, row


def test_the_studys_blocks_are_enough_for_all_claims_about_curl(curl: Ledger) -> None:
    """The truth of all at once: each must be able to pass Holm's correction."""
    lead = {"h1-6": 1.5, "h1": 2.0, "h2": 2.0, "openssl": 0.8}

    def effect(cell: Mapping[str, str]) -> float:
        many = cell["load"].startswith(("parallel", "requests")) and cell["load"] not in ("requests-1", "requests-6")
        return lead.get(cell["curl"], 1.3 if many and cell["curl"] in ("ngtcp2", "quiche") else 1.0)

    blocks = load_study(find_study("scorecard")).blocks
    found = rows(curl, case({"goodput": effect}, study="scorecard", blocks=blocks, only={"server": ["caddy"]}))
    elsewhere = {"C13c", "C13d"}  # of the program curl
    undecided = {name: row["reason"] for name, row in found.items() if row["verdict"] != "confirmed"}
    assert set(undecided) == elsewhere, undecided


def test_what_is_said_of_one_level_is_worded_so(curl: Ledger) -> None:
    row = rows(alone(curl, "C12"), None)["C12"]
    assert row["estimand"].startswith("openssl of the trials' goodput")
    assert "by more than 10 %" in row["size"]
    assert "openssl not higher by more than 10 %;" in statement(row)
