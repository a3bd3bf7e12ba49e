"""What is said of causes."""

import re
from typing import Any

import pytest

from h123.base.errors import UserError
from h123.base.paths import project_root
from h123.causes import WORDS
from h123.report.figures.causes import causes_figure
from h123.report.figures.drawing import inline
from h123.report.text.explanations import causes
from h123.report.text.explanations.causes import blocking_words, main_parts, no_causes_error, parts, sentence, sums


def _between(seconds: float, low: float, high: float) -> dict[str, float]:
    return {"seconds": seconds, "low": low, "high": high, "confidence": 0.97}


def _part(words: str, a: float, b: float, low: float, high: float) -> dict[str, Any]:
    return {"cause": words, "group": words, "words": words, "a_seconds": a, "b_seconds": b} | {
        "difference": _between(a - b, low, high)
    }


ROW = {
    "metric": "cold_latency",
    "cell": {"network": "medium"},
    "a": "h3",
    "b": "h2",
    "blocks": 6,
    "a_seconds": 0.125,
    "b_seconds": 0.188,
    "difference": _between(-0.0674, -0.0712, -0.0346),
    "parts": [
        _part("slow start", 0.0106, 0.0523, -0.0466, -0.0339),
        _part("connection setup", 0.03, 0.0605, -0.0305, -0.0305),
        _part("detecting and repairing losses", 0.0096, 0.0031, -0.0008, 0.0361),
        _part("the link's rate", 0.0427, 0.042, 0.0006, 0.0012),
    ],
}


def _plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_the_sentence_names_what_makes_the_difference() -> None:
    assert _plain(sentence(ROW)) == (
        "On medium, the mean time of a cold request is 67.4 ms shorter with HTTP/3 than with HTTP/2: 41.7 ms less for "
        "slow start and 30.5 ms less for connection setup."
    )


def test_of_pages_it_is_the_median_visit() -> None:
    said = sentence({**ROW, "metric": "page_complete"})
    assert _plain(said).startswith(
        "On medium, the median time of a visit is 67.4 ms shorter with HTTP/3 than with HTTP/2: 41.7 ms"
    )
    drawn = inline(causes_figure([{**ROW, "metric": "page_complete"}]))
    assert "ms, median visit" in drawn
    assert "mean request" not in drawn


def test_a_part_that_may_be_nothing_or_is_small_beside_the_largest_is_not_named() -> None:
    assert [part["words"] for part in main_parts(ROW)] == ["slow start", "connection setup"]


def test_what_an_earlier_version_wrote_is_read_in_the_words_of_today() -> None:
    written = [
        {**_part("as it was called then", 0.02, 0.06, -0.05, -0.03), "cause": name} for name in ("cut", "gone-since")
    ]
    row = {**ROW, "parts": written}
    assert [part["words"] for part in parts(row)[:2]] == [WORDS["cut"], "as it was called then"]
    assert f"40 ms less for {WORDS['cut']} and 40 ms less for as it was called then" in _plain(sentence(row))


def test_the_table_ends_with_the_whole() -> None:
    assert parts(ROW)[-1]["a_seconds"] == 0.125
    assert parts(ROW)[-1]["words"] == "in all, over 6 blocks"


@pytest.mark.parametrize(("attained", "shown"), [(0.97, True), (0.8, True), (0.75, False), (0.5, False), (0.0, False)])
def test_intervals_say_what_they_are_worth_or_are_not_shown(attained: float, shown: bool) -> None:
    """Of two blocks the widest interval holds with 50 % confidence."""
    row = {**ROW, "blocks": 2, "difference": {**ROW["difference"], "confidence": attained}}
    assert (causes.between(row["difference"]) != "–") == shown
    usual = {0.97: "95 %", 0.8: "80 %"}
    expected = f"The intervals hold with {usual[attained]} confidence." if shown else "No intervals: 2 blocks, too few"
    assert _plain(causes.confidence(row)).startswith(expected)
    from h123.report.text.words import interval

    ends = {"low": 0.5, "high": 1.5, "confidence": attained}
    assert (interval(ends) != "–") == shown


def test_the_picture_has_a_bar_for_each_part_of_each_side() -> None:
    drawn = inline(causes_figure([ROW]))
    assert "HTTP/3 spends 10.6 ms on slow start" in drawn
    assert "HTTP/2 spends 60.5 ms on connection setup" in drawn


def test_a_level_of_two_comparisons_is_drawn_once() -> None:
    other = {**ROW, "a": "h2", "b": "h1"}
    other["parts"] = [{**part, "a_seconds": part["b_seconds"], "b_seconds": 0.001} for part in ROW["parts"]]
    drawn = inline(causes_figure([ROW, other]))
    assert drawn.count("HTTP/2 spends 60.5 ms on connection setup</title>") == 2  # wide and narrow


LOSSES = {"a_seconds": 0.02, "b_seconds": 0.039, "a_held": 0.0, "b_held": 0.0121}


def test_of_what_losses_cost_the_head_of_line_blocking_is_told() -> None:
    assert _plain(blocking_words({**ROW, "losses": LOSSES})) == (
        "Head-of-line blocking (data of other requests had arrived but waited for a lost packet) accounts for "
        "12.1 ms (31 %) of the 39 ms that losses cost a request with HTTP/2 and for none of the 20 ms that losses cost "
        "a request with HTTP/3."
    )


def test_losses_that_held_back_nothing_are_said_to() -> None:
    assert blocking_words({**ROW, "losses": {**LOSSES, "b_held": 0.0}}) == (
        "No head-of-line blocking: no loss held back data of other requests."
    )


def test_where_losses_cost_little_or_it_is_not_known_nothing_is_said_of_it() -> None:
    assert (
        blocking_words({**ROW, "losses": {**LOSSES, "a_seconds": 0.001, "b_seconds": 0.0012, "b_held": 0.0011}}) == ""
    )
    assert blocking_words(ROW) == ""


def test_few_blocks_tell_nothing_yet() -> None:
    few = {**ROW, "blocks": 1, "difference": {**_between(-0.0674, -0.0674, -0.0674), "confidence": 0.0}}
    assert _plain(sentence(few)) == (
        "On medium, the mean time of a cold request is 67.4 ms shorter with HTTP/3 than with HTTP/2 so far (1 block is "
        "too few to say what makes the difference)."
    )


def test_a_difference_that_may_be_nothing_is_said_so() -> None:
    same = {**ROW, "difference": _between(-0.001, -0.004, 0.003)}
    assert _plain(sentence(same)) == (
        "On medium, the difference in mean time of a cold request between HTTP/3 and HTTP/2 may be chance "
        "(\u22124 ms to +3 ms; the answer compares medians)."
    )


def _small(share: float, **changes: Any) -> dict[str, Any]:
    """Sides of 100 ms that differ by this share, by one part."""
    seconds = 0.1 * share
    part = _part("waiting for the server", seconds, 0.0, 0.9 * seconds, 1.1 * seconds)
    trip = _part("the request's own round trip", 0.1, 0.1, -0.000002, -0.000001)
    difference = _between(seconds, 0.9 * seconds, 1.1 * seconds)
    return {
        **ROW,
        "a_seconds": 0.1 + seconds,
        "b_seconds": 0.1,
        "difference": difference,
        "parts": [part, trip],
    } | changes


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (_small(0.00007), "is the same with HTTP/3 as with HTTP/2, within 1 %."),
        (
            _small(0.00007, difference=_between(-0.000002, -0.00001, 0.00002)),
            "is the same with HTTP/3 as with HTTP/2, within 1 %.",
        ),
        (_small(0.03), "is 3 ms longer with HTTP/3 than with HTTP/2: 3 ms more for waiting for the server."),
    ],
    ids=["microseconds", "chance", "three per cent"],
)
def test_microseconds_of_a_long_request_have_no_reasons(row: dict[str, Any], said: str) -> None:
    assert _plain(sentence(row)).endswith(said)
    assert "own round trip" not in sentence(row)
    shown = [part["words"] for part in parts(row)]
    assert ("waiting for the server" in shown) == ("server" in said)
    assert "the request's own round trip" in shown  # it takes most of the time


def test_parts_that_make_up_for_one_another_are_told() -> None:
    both = [_part("slow start", 0.02, 0.0, 0.019, 0.021), _part("queueing", 0.0, 0.02, -0.021, -0.019)]
    said = _plain(sentence(_small(0.001, parts=both)))
    assert "20 ms more for slow start" in said
    assert "20 ms less for queueing" in said


SUMS = {"a_requests": 0.9995, "b_requests": 0.5, "a_unattributed": 0.0, "b_unattributed": 0.231}


def test_the_page_asks_for_what_there_is() -> None:
    page = (project_root() / "src/h123/report/page/parts/causes.html.j2").read_text()
    asked = set(re.findall(r"\bcauses\.(\w+)", page))
    assert {"title", "parts", "which"} <= asked
    assert {name for name in asked if not hasattr(causes, name)} == set()
    recovery = {**ROW, "metric": "recovery"}
    assert causes.which([ROW, recovery]).count("From each trial: the") == 2
    assert causes.which([recovery, recovery]).startswith("From each trial: the recovery from its client's move")


def test_a_recovery_from_a_move_is_the_one_in_the_middle() -> None:
    row = {**ROW, "metric": "recovery", "sums": SUMS}
    assert _plain(sentence(row)).startswith(
        "On medium, the median time of a recovery is 67.4 ms shorter with HTTP/3 than with HTTP/2: "
    )
    assert "add up to a recovery's time, within 2 %, in over 99.9 % (HTTP/3)" in _plain(sums(row))
    assert parts(row)[-1]["words"] == "in all, over 6 blocks"
    assert (
        "What the median recovery of each side spent its time on, according to the packets"
        in causes_figure([row]).caption
    )
    assert "What the mean request or median recovery of" in causes_figure([ROW, row]).caption


def test_where_much_is_unattributed_no_part_is_named() -> None:
    assert _plain(sentence({**ROW, "told": False, "sums": SUMS})) == (
        "On medium, the mean time of a cold request is 67.4 ms shorter with HTTP/3 than with HTTP/2. The packets do "
        "not show why: 23.1 % of the time of HTTP/2 is unattributed."
    )


def test_how_far_the_parts_sum_up_is_said() -> None:
    assert _plain(sums({**ROW, "sums": SUMS})) == (
        "The parts add up to a request's latency, within 2 %, in over 99.9 % (HTTP/3) and 50 % (HTTP/2) of the "
        "requests. Unattributed time: 0 % (HTTP/3) and 23.1 % (HTTP/2)."
    )
    assert sums(ROW) == ""  # of an earlier version


def _asked(metric: str) -> dict[str, Any]:
    return {"metric": metric, "twin": False, "family": "answer", "withheld": None, "pairs": []}


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ({}, "recorded no packets"),
        ({"comparisons": [_asked("latency")]}, "recorded no packets"),
        ({"comparisons": [_asked("goodput")]}, "this campaign asks about Goodput"),
        (
            {"comparisons": [_asked("recovery")]},
            "no block has recorded packets and responses after the move for both sides",
        ),
        ({"causes": [ROW]}, "what --filter selects"),
    ],
)
def test_nothing_to_tell_is_said(verdicts: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        raise no_causes_error(verdicts)
