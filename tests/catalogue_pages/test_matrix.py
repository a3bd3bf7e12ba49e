"""The matrix in the terminal and as a page: every outcome is there, and every failure with its reason and log."""

from pathlib import Path

import pytest

from h123.catalogue import catalogue
from h123.report.catalogue.matrix import print_matrix, reasons, totals, write_matrix
from h123.verification.matrix import Cell, MethodResult, Outcome, Pairing, pairings
from printing import printed
from report.test_page import Page

SERVERS, CLIENTS, PROTOCOLS = ["go", "go-rest"], ["go", "slow-browser-with-a-name"], ["h1", "h2", "h3"]


def _cell(pairing: Pairing, get: Outcome, post: Outcome) -> Cell:
    logs = {"client": "<script>alert(1)</script>"}
    results = {
        method: MethodResult(outcome, "it <broke>", logs) if outcome == "fail" else MethodResult(outcome)
        for method, outcome in (("GET", get), ("POST", post))
    }
    return Cell(pairing, results)


@pytest.fixture
def cells() -> dict[Pairing, Cell | None]:
    found: dict[Pairing, Cell | None] = {}
    for pairing in pairings(SERVERS, CLIENTS, PROTOCOLS):
        able = pairing.protocol != "h3" or pairing.client == "go"
        found[pairing] = _cell(pairing, "pass", "pass") if able else _cell(pairing, "unsupported", "unsupported")
    found[Pairing("go-rest", "go", "h2")] = _cell(Pairing("go-rest", "go", "h2"), "pass", "fail")
    found[Pairing("go-rest", "go", "h3")] = None
    return found


def _printed(cells: dict[Pairing, Cell | None], width: int) -> str:
    return printed(lambda console: print_matrix(cells, console), width)


def test_a_sign_for_each_protocol(cells: dict[Pairing, Cell | None]) -> None:
    lines = [" ".join(line.split()) for line in _printed(cells, 100).splitlines()]
    assert "go ✓✓✓ ✓✓·" in lines
    assert "go-rest ✓✗? ✓✓·" in lines
    assert "HTTP/2: 3 pass, 1 fail" in lines
    assert "HTTP/3: 1 pass, 2 unsupported, 1 not tried" in lines
    assert "go-rest / go, HTTP/2 POST: it <broke>" in lines


def test_clients_that_do_not_fit_get_a_table_of_their_own(cells: dict[Pairing, Cell | None]) -> None:
    printed = _printed(cells, 30)
    assert printed.count("server \\ client") == 2
    assert max(map(len, printed.splitlines()[:6])) <= 30


def test_one_method_that_fails_is_a_failure_and_what_nobody_has_is_none() -> None:
    pairing = Pairing("go", "go", "h1")
    assert _cell(pairing, "pass", "fail").outcome == "fail"
    assert _cell(pairing, "pass", "unsupported").outcome == "pass"
    assert _cell(pairing, "unsupported", "unsupported").outcome == "unsupported"
    assert reasons(_cell(pairing, "pass", "fail")) == "GET: pass; POST: fail (it <broke>)"
    assert reasons(None) == "not tried yet"


def test_the_page_is_whole_and_shows_every_failure(cells: dict[Pairing, Cell | None], tmp_path: Path) -> None:
    write_matrix(cells, {**catalogue(), CLIENTS[1]: catalogue()["go"]}, [], tmp_path / "matrix.html")
    text = (tmp_path / "matrix.html").read_text()
    page = Page(text)
    assert page.open == []
    assert page.loads == []
    words = " ".join(page.words)
    for line in totals(cells):
        assert line in words
    assert '<a href="#go-rest-go-h2">' in text
    assert 'id="go-rest-go-h2"' in text
    assert "go-rest / go, HTTP/2 POST" in words
    assert "it <broke>" in words
    assert "<script>alert(1)</script>" in words  # as text: the page has no script of its own or of anybody's
    assert "Without any pair over HTTP/3: client slow-browser-with-a-name." in words
    assert text.count("<td") == text.count("</td>") == 4 + 4 + 2 + 5 * 3
