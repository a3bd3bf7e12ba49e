"""What is said of initial windows."""

from typing import Any

from h123.report.brief.caveats import _windows
from h123.report.text.explanations.windows import window_lines


def _row(a: str, b: str, network: str, seconds: float, difference: float, packets: tuple[int, int]) -> dict[str, Any]:
    sides = {"a": a, "b": b, "a_packets": packets[0], "b_packets": packets[1]}
    return {
        "metric": "cold_latency",
        "cell": {"network": network},
        **sides,
        "seconds": seconds,
        "difference": difference,
    }


def _plain(rows: list[dict[str, Any]]) -> list[str]:
    return [line.replace("\u00a0", " ") for line in window_lines({"windows": rows})]


def test_one_sentence_for_who_begins_with_more() -> None:
    rows = [
        _row("h3", "h2", "medium", 0.039, 0.0635, (33, 10)),
        _row("h3", "h1", "medium", 0.039, 0.0623, (33, 10)),
        _row("h2", "h3", "poor", -0.058, -0.104, (10, 33)),
    ]
    (said,) = _plain(rows)
    assert said == (
        "HTTP/3 begins with 33 packets, HTTP/2 and HTTP/1.1 with 10: a constant of the stacks, not of the protocols. "
        "By itself it saves a cold request about 39 ms on medium (63.5 ms in all against HTTP/2 and 62.3 ms in all "
        "against HTTP/1.1) and 58 ms on poor (104 ms in all against HTTP/2), by the arithmetic of a link without "
        "losses; `--transport matched` measures without it."
    )


def test_a_larger_window_may_not_be_enough() -> None:
    (said,) = _plain([_row("h3", "h2", "poor", 0.058, -0.02, (33, 10))])
    assert "58 ms on poor (and yet its cold requests are slower)" in said


def test_matching_is_not_advised_where_it_cannot_be_done() -> None:
    """`use --transport matched` stood below answers about servers whose windows h123 cannot set."""
    row = _row("h3", "h2", "poor", 0.058, 0.1, (33, 10))
    for matchable in (True, False):
        rows: Any = {"windows": [{**row, "matchable": matchable}]}
        for text in (*window_lines(rows), *_windows(rows)):
            assert ("--transport matched" in text) == matchable
            assert ("h123 cannot equalise" in text.replace("\u00a0", " ")) != matchable


def test_earlier_campaigns_say_nothing() -> None:
    assert window_lines({}) == []
