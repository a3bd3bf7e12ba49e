"""The glossary explains each audit, metric, cause and reason that an answer can have."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from h123.analysis import analyse
from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.causes import CAUSES
from h123.report import terminal
from h123.report.glossary import Term, find_terms, terms
from h123.report.text import words
from h123.study import METRICS
from synthetic import Scenario, make_campaign

SRC = project_root() / "src/h123"
FORMER_WORDINGS = (
    "tries that were given up",
    "waiting for a place on a connection",
    "round trips to connect",
    "one more round trip, as certificates",
    "which a Retry cost",
    "a congestion window that losses had cut",
    "finding and mending losses",
    "a limit that does not grow",
    "receiver's window, which was full",
    "found the receiver's buffer full",
    "the client's processing",
    "the server's processing",
    "finding out that the path had gone",
    "what packets do not tell",
)
"""How answers, pages and the glossary once called causes, each in its own way."""
WORDS_OF_ANSWERS = (
    *("Latency", "median", "trials", "warm", "cold", "network", "confidence", "Caveats", "A/A twin", "audits"),
    *("valid", "blocks", "transport", "deployed", "matched", "initial window", "pacing"),
    *("packet size", "minimum retransmission timeout", "ACK frequency", "receive windows", "congestion control"),
    *("paired differences", "first minus second", "not judged", "virtual clock", "wall clock", "handshake"),
    *("sign test", "closed loop", "p values", "stack defaults", "within the margin", "head-of-line blocking"),
    *("round trips", "HTTP/1.1", "HTTP/2", "HTTP/3", "attempts", "treatment", "campaigns", "goodput", "evidence"),
)
"""Of the default answer, of `--details` and of `why`."""


def _of(kind: str) -> dict[str, Term]:
    return {term.name: term for term in terms() if term.kind == kind}


def test_each_metric_is_explained() -> None:
    assert list(_of("metric")) == list(METRICS)


def test_each_cause_is_explained_in_the_words_of_answers() -> None:
    assert {cause.name: cause.words for cause in CAUSES} == {name: term.words for name, term in _of("cause").items()}
    for cause in CAUSES:
        assert words.cause(cause.name, "") == cause.words
        for text in (cause.name, cause.words, cause.words.upper(), cause.words.replace(" ", "-")):
            assert cause.name in [term.name for term in find_terms(text) if term.kind == "cause"], text


def test_no_file_has_a_second_wording_of_causes() -> None:
    assert "causes" not in tomllib.loads((SRC / "report/text/vocabulary.toml").read_text("utf-8"))
    causes = yaml.safe_load((SRC / "report/glossary/terms.yaml").read_text("utf-8"))["cause"]
    assert not [name for name, fields in causes.items() if "words" in fields]
    for path in _texts():
        text = " ".join(path.read_text("utf-8").split())
        assert not [former for former in FORMER_WORDINGS if former in text], path


def _texts() -> list[Path]:
    """What h123 prints and what people read. Printed answers that a result keeps are as h123 printed them then."""
    pages = [path for path in (project_root() / "docs").rglob("*.md") if "results" not in path.parts]
    return [*pages, project_root() / "README.md", *SRC.rglob("*.py"), *SRC.rglob("*.toml"), *SRC.rglob("*.yaml")]


def test_each_audit_is_explained(tmp_path_factory: pytest.TempPathFactory) -> None:
    verdicts = analyse(make_campaign(tmp_path_factory.mktemp("glossary") / "c", Scenario(blocks=2)))
    assert {audit["audit"] for audit in verdicts["audit_summary"]} == set(_of("audit"))


def test_each_reason_is_explained() -> None:
    vocabulary = (project_root() / "src/h123/report/text/vocabulary.toml").read_text("utf-8")
    assert set(tomllib.loads(vocabulary)["reasons"]) <= set(_of("reason"))


@pytest.mark.parametrize("term", terms(), ids=lambda term: f"{term.kind} {term.name}")
def test_a_term_is_one_sentence_and_its_page_exists(term: Term) -> None:
    if term.kind != "metric":
        assert re.fullmatch(r"[A-Z0-9].*[.]", term.means), term.means
        assert ". " not in term.means, term.means
    assert not term.see or (project_root() / "docs" / term.see).is_file()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Slow start", "slow-start"),
        ("machine saturated", "machine-saturated"),
        ("A/A twin", "A/A twin"),
        ("a/a-pair", "A/A twin"),
        ("twin", "A/A twin"),
        ("warm", "warm request"),
        ("COLD", "cold request"),
        ("block", "block"),
        ("Blocks", "block"),
        ("trials", "trial"),
        ("congestion window", "congestion window"),
        ("A congestion window reduced by losses", "cut"),
        ("congestion-window reduced by losses", "cut"),
        ("reduced by losses", "cut"),
        ("queueing", "queue"),
        ("latency, cold", "cold_latency"),
        ("-", "–"),
        ("fastest", "*"),
        ("h3", "HTTP/3"),
        ("95 % confidence", "interval"),
        *((text, "head-of-line blocking") for text in ("HOL", "head-of-line", "hol blocking")),
        *((text, "Hodges-Lehmann estimate") for text in ("Hodges-Lehmann", "hodges lehmann")),
        *((text, "0-RTT") for text in ("0-rtt", "0rtt", "early data")),
        *((text, "ECN") for text in ("ECT", "ce")),
        *((text, "retransmission timeout") for text in ("pto", "RTO", "probe timeout")),
        *((text, "AQM") for text in ("aqm", "fq-codel")),
        ("stack defaults (of all)", "deployed"),
        ("\N{MINUS SIGN}", "first minus second"),
    ],
)
def test_a_term_is_found_by_each_of_its_names(text: str, name: str) -> None:
    assert [term.name for term in find_terms(text)] == [name]


def test_the_terms_of_a_line_of_an_answer_are_found() -> None:
    line = "medium, HTTP/3 v HTTP/2: 135 ms per request (120 ms from a congestion window reduced by losses)"
    assert [term.name for term in find_terms(line)] == ["cut", "HTTP/2", "HTTP/3"]


def test_each_sign_of_a_table_and_each_verdict_is_explained() -> None:
    signs = [*terminal._MEANINGS, "*", "–", "×"]
    assert [term.kind for sign in signs for term in find_terms(sign)] == ["sign"] * len(signs)
    for metric in METRICS.values():
        for word in (metric.words.better, metric.words.worse, metric.words.best):
            assert find_terms(word)[0].kind in ("verdict", "sign"), word


def test_each_word_of_an_answer_is_explained() -> None:
    for text in WORDS_OF_ANSWERS:
        assert find_terms(text), text


@pytest.mark.parametrize("text", ["nonsense", "zebra", "quick brown", "", "!!"])
def test_what_resembles_no_term_brings_no_suggestion(text: str) -> None:
    with pytest.raises(UserError) as caught:
        find_terms(text)
    assert "did you mean" not in (caught.value.remedy or "")


@pytest.mark.parametrize(
    ("text", "near"),
    [("machine-saturatd", "machine-saturated"), ("machinesaturated", "machine-saturated"), ("equivalnt", "equivalent")],
)
def test_an_unknown_term_suggests_near_ones(text: str, near: str) -> None:
    with pytest.raises(UserError) as caught:
        find_terms(text)
    assert near in (caught.value.remedy or "")
