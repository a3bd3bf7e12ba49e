"""Files of claims: what they may say, the studies that they speak of, the ledgers that come with h123."""

import hashlib
import json
from pathlib import Path

import pytest

from h123.base.errors import UserError
from h123.study import (
    ARITHMETIC,
    Ledger,
    MeasurableClaim,
    WordedClaim,
    find_ledgers,
    ledgers_of,
    list_claims,
    load_ledger,
)

CLAIMS = Path(__file__).resolve().parents[2] / "claims"
REST = CLAIMS / "rest-api.yaml"


def test_the_ledgers_that_come_with_h123() -> None:
    claims = [claim for ledger in ledgers_of() for claim in ledger.claims]
    names = [claim.id for claim in claims]
    assert len(names) == len(set(names))
    assert {f"C{number:02}" for number in range(1, 19)} <= set(names)
    measurable = {claim.id for claim in claims if isinstance(claim, MeasurableClaim)}
    parts = {"C11": ["", *"ab"], "C12": ["", *"abcdef"], "C13": ["", *"abcd"]}
    of_curl = {f"{claim}{part}" for claim, each in parts.items() for part in each}
    assert {"C01", "C02", "C03", "C04", "C05", "C06"} | of_curl <= measurable


def test_no_quotation_is_changed_since_it_was_compared_with_its_source() -> None:
    """The sources do not come with h123: tools/quotations.py compares, and keeps what it found."""
    found = {path.stem: digest(quotations) for path in list_claims() if (quotations := quoted(load_ledger(path)))}
    assert found == json.loads((Path(__file__).parent / "quotations.json").read_text())


def quoted(ledger: Ledger) -> dict[str, str]:
    return {claim.id: " ".join(claim.quotation.split()) for claim in ledger.claims if claim.quotation}


def digest(quotations: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(quotations, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize("name", ["nodejs-quiche", "rest-api", "rest-text"])
def test_every_claim_says_where_it_stands(name: str) -> None:
    assert [
        claim.id for ledger in find_ledgers(str(CLAIMS / f"{name}.yaml")) for claim in ledger.claims if not claim.where
    ] == []


def test_what_arithmetic_alone_decides_is_an_absolute_figure() -> None:
    """Its checks are all that there is: a direction would be for a campaign."""
    claims = [claim for ledger in ledgers_of() for claim in ledger.claims if isinstance(claim, WordedClaim)]
    assert {claim.direction for claim in claims if claim.rule == ARITHMETIC} == {"none"}


def test_the_claims_about_curl_are_of_the_scorecard_study() -> None:
    (ledger,) = ledgers_of("scorecard")
    assert {claim.id for claim in ledger.claims} >= {"C11", "C12", "C13"}
    by_id = {claim.id: claim for claim in ledger.claims if isinstance(claim, MeasurableClaim)}
    cell = {"load": "parallel-1MiB", "server": "caddy", "network": "lan"}
    assert by_id["C12e"].counterpart(cell) == {**cell, "load": "serial-1MiB"}  # each size against itself
    assert by_id["C12"].counterpart({**cell, "load": "requests-300"}) == {**cell, "load": "requests-6"}


def test_the_claims_of_a_study() -> None:
    assert [ledger.study for ledger in ledgers_of("rest-api")] == ["rest-api", "rest-api"]
    assert ledgers_of("quick") == []
    assert find_ledgers("rest-api") == ledgers_of("rest-api")
    assert find_ledgers(str(REST)) == ledgers_of("rest-api")[:1]
    assert find_ledgers(str(REST.parents[1] / "studies/rest-api.yaml")) == ledgers_of("rest-api")
    assert find_ledgers("literature")[0] in ledgers_of("page-loads")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("quick", "no claims file is about study 'quick'"),
        ("rest-apy", "did you mean rest-api"),
        ("nowhere.yaml", "nowhere.yaml: cannot be read"),
    ],
)
def test_no_claims_of_that_name(name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        find_ledgers(name)


def written(folder: Path, text: str) -> Ledger:
    """The ledger of a file with this text."""
    file = folder / "c.yaml"
    file.write_text(text)
    return load_ledger(file)


def refused(folder: Path, text: str, line: int, said: str) -> None:
    with pytest.raises(UserError) as caught:
        written(folder, text)
    assert caught.value.message.startswith(f"{folder}/c.yaml:{line}:"), caught.value.message
    assert said in caught.value.message


GOOD = """h123: claims/1
source: {title: t, where: w}
claims:
  - id: C1
    quotation: They say so.
    metric: latency
    estimand: ratio
    direction: lower
    a: h3
    b: h2
    rule: a campaign
    checks:
      - {check: rate-within-link, rps: 10, size: 1MB, link: 100Mbit/s}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("claims/1", "claims/2", 1, "claims/1"),
        (
            "direction: lower",
            "direction: faster",
            8,
            "the choices are lower, higher, equivalent, not higher, not lower, none",
        ),
        ("metric:", "metrik:", 6, "did you mean metric?"),
        ("link: 100Mbit/s", "link: 100", 13, "is not valid"),
        ("rate-within-link", "rate-in-link", 13, "rate-in-link"),
        ("    rule: a campaign\n", "", 4, "write one of `rule`, `known` and `untestable`"),
        ("    b: h2\n", "", 4, "write both `a` and `b`"),
        ("    quotation: They say so.\n", "", 4, "write either `quotation` or `summary`"),
        ("id: C1", "id: first", 4, "id"),
        (
            "rule: a campaign",
            "untestable: who knows\n    rule: a campaign",
            4,
            "write one of `rule`, `known` and `untest",
        ),
        ("rule: a campaign", "known: {verdict: open, by: it}", 11, "the choices are confirmed, refuted"),
        ("rule: a campaign\n    checks:\n      - {", "rule: arithmetic\n    # {", 4, "needs `checks`"),
    ],
)
def test_a_broken_ledger_names_file_and_line(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    assert written(tmp_path, GOOD).claims[0].id == "C1"
    refused(tmp_path, GOOD.replace(old, new, 1), line, said)


def test_claims_about_another_study_are_none_of_a_campaigns_business(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That study's subjects are not here, or its file is gone, or somebody is still writing the claims."""
    monkeypatch.setenv("H123_SUBJECTS", str(tmp_path))
    for name, text in (("gone", GOOD + "study: gone.yaml\n"), ("unfinished", "h123: claims/1\nclaims: [\n")):
        (tmp_path / f"{name}.yaml").write_text(text)
    monkeypatch.setattr("h123.study.claims.ledger.list_claims", lambda: [REST, *sorted(tmp_path.glob("*.yaml"))])
    assert ledgers_of("mine") == []
    for files in ([REST], [tmp_path / "gone.yaml"], [tmp_path / "unfinished.yaml"]):
        monkeypatch.setattr("h123.study.claims.ledger.list_claims", lambda files=files: files)
        with pytest.raises(UserError):  # whoever asks for all claims is told
            ledgers_of()


MEASURABLE = """h123: claims/1
source: {title: t, where: w}
study: rest-api
claims:
  - id: C1
    quotation: They say so.
    metric: latency
    a: h3
    b: h2
    direction: lower
    size: -31.2 %
    cells: {network: [medium, poor], method: GET, size: all, load: high}
    against: {load: low}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("study: rest-api\n", "", 11, "to name its `study`"),
        ("study: rest-api", "study: rest-apy", 3, "did you mean rest-api"),
        ("metric: latency", "metric: speed", 7, "the choices are latency, latency_p95"),
        ("    metric: latency\n", "", 5, "`claims.0.metric` is missing"),
        ("a: h3", "a: h4", 8, "'h4' is not a level of 'protocol'; the choices are h2, h3"),
        ("a: h3", "a: h2", 5, "the same level"),
        ("direction: lower", "direction: none", 10, "the choices are lower, higher, equivalent"),
        ("direction: lower", "direction: higher", 5, "a `size` of -31.2 % is not higher"),
        ("direction: lower", "direction: not higher", 5, "`not higher` needs a `margin`"),
        ("direction: lower", "direction: equivalent", 5, "`equivalent` needs a `margin`"),
        ("size: -31.2 %", "size: much", 11, "write -31.2 % or -0.312"),
        ("size: -31.2 %", "size: -120 %", 11, "above -100 %"),
        ("size: -31.2 %", "size: -3 %", 11, "within the study's margin of 5 %"),
        ("size: -31.2 %", "margin: 10 %", 5, "only equivalent, not higher, not lower take a `margin`"),
        ("    against:", "    rule: mine\n    against:", 13, "unknown key 'rule'"),
        ("method: GET, ", "", 12, "factor 'method' is missing; write one of POST, GET, a list of them, or all"),
        ("method: GET", "methods: GET", 12, "did you mean method?"),
        ("method: GET", "protocol: h3, method: GET", 12, "'protocol' is not a factor"),
        ("[medium, poor]", "[medium, bad]", 12, "'bad' is not a level of 'network'"),
        ("[medium, poor]", "{medium: 1}", 12, "write a level, or a list of levels"),
        ("load: low}", "load: high}", 13, "'high' is already in `cells`"),
        ("load: low}", "load: [low, high]}", 13, "exactly one level"),
    ],
)
def test_a_broken_measurable_claim_names_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    (claim,) = written(tmp_path, MEASURABLE).claims
    assert isinstance(claim, MeasurableClaim)
    assert (claim.size, claim.cells["network"], claim.cells["load"]) == (-0.312, ["medium", "poor"], ["high"])
    refused(tmp_path, MEASURABLE.replace(old, new, 1), line, said)


def test_the_study_may_be_a_file_beside_the_claims(tmp_path: Path) -> None:
    study = (REST.parents[1] / "studies/rest-api.yaml").read_text().replace("name: rest-api", "name: mine")
    (tmp_path / "mine.yaml").write_text(study)
    assert written(tmp_path, MEASURABLE.replace("study: rest-api", "study: mine.yaml")).study == "mine"


def test_a_claim_about_one_level_needs_something_to_stand_against(tmp_path: Path) -> None:
    alone = MEASURABLE.replace("    b: h2\n", "")
    (claim,) = written(tmp_path, alone).claims
    assert (claim.a, claim.b) == ("h3", None)
    with pytest.raises(UserError, match="`b` is missing"):
        written(tmp_path, alone.replace("    against: {load: low}\n", ""))
