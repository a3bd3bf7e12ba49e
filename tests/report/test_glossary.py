"""The glossary explains each audit, metric, cause and reason that an answer can have."""

import re
import tomllib

import pytest

from h123.analysis import analyse
from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.causes import CAUSES
from h123.report.glossary import Term, find_terms, terms
from h123.study import METRICS
from synthetic import Scenario, make_campaign


def _of(kind: str) -> dict[str, Term]:
    return {term.name: term for term in terms() if term.kind == kind}


def test_each_metric_is_explained() -> None:
    assert list(_of("metric")) == list(METRICS)


def test_each_cause_is_explained_in_the_words_of_answers() -> None:
    assert {cause.name: cause.words for cause in CAUSES} == {name: term.words for name, term in _of("cause").items()}


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


def test_a_term_is_found_by_its_name_and_by_its_words() -> None:
    assert [term.name for term in find_terms("Slow start")] == ["slow-start"]
    assert [term.name for term in find_terms("machine saturated")] == ["machine-saturated"]


@pytest.mark.parametrize(("text", "near"), [("machinesaturated", "machine-saturated"), ("equivalnt", "equivalent")])
def test_an_unknown_term_suggests_near_ones(text: str, near: str) -> None:
    with pytest.raises(UserError) as caught:
        find_terms(text)
    assert near in (caught.value.remedy or "")
