"""What a log has of a campaign's progress."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from h123.progress import InterimEstimate, Standing, display_for
from h123.progress.display import EVERY_S, LineDisplay

WAITS = "3 disturbed trials wait for a calmer machine, for 9 s at most"


def _standing(done: int, total: int = 9, **more: Any) -> Standing:
    return Standing(
        **{"done": done, "total": total, "left_s": 5.0, "running": [], "blocks_done": 0, "blocks": 3, **more}
    )


def _event(number: int, **more: Any) -> Any:
    return {"trial": f"b01-t{number:02}", "attempt": 1, "reasons": [], "seconds": 1.0, **more}


@pytest.fixture
def out() -> StringIO:
    return StringIO()


def test_what_is_said_again_and_again_is_one_line(out: StringIO) -> None:
    with display_for(Console(file=out, width=80)) as display:
        for done in (8, 8, 8, 9, 9):
            display.say(WAITS, _standing(done))
    assert out.getvalue().splitlines() == [f"[8/9] {WAITS}", f"[9/9] {WAITS}"]


def test_every_ten_trials_one_line_that_counts_what_was_disturbed(out: StringIO) -> None:
    with LineDisplay(Console(file=out, width=80), clock=lambda: 0.0) as display:
        for number in range(1, 24):
            display.end(_event(number, disturbed=number in (2, 3, 12)), _standing(number, 23))
    assert out.getvalue().splitlines() == [
        "[10/23, 5 s left] 2 disturbed (by other work on the machine; repeated at the end if there is time)",
        "[20/23, 5 s left] 3 disturbed",
        "[23/23, 5 s left] 3 disturbed",
    ]


def test_repeats_at_the_end_are_counted_instead_of_listed(out: StringIO) -> None:
    """Each repeat of a disturbed trial had a line, as each was an end of all trials."""
    now = [0.0]
    with LineDisplay(Console(file=out, width=80), clock=lambda: now[0]) as display:
        for number in range(1, 24):
            display.end(_event(number, disturbed=number > 8), _standing(number, 23))
        for number in range(9, 23):
            display.say(f"{23 - number} disturbed trials wait for a calmer machine, for 9 s at most", _standing(23, 23))
            display.end(_event(number, attempt=2), _standing(23, 23))
        now[0] += EVERY_S
        display.say("2 disturbed trials wait for a calmer machine, for 9 s at most", _standing(23, 23))
    assert out.getvalue().splitlines() == [
        "[10/23, 5 s left] 2 disturbed (by other work on the machine; repeated at the end if there is time)",
        "[20/23, 5 s left] 12 disturbed",
        "[23/23, 5 s left] 15 disturbed",
        "[23/23] 14 disturbed trials wait for a calmer machine, for 9 s at most",
        "[23/23, 5 s left] 15 disturbed, 10 repeated",
        "[23/23] 2 disturbed trials wait for a calmer machine, for 9 s at most",
        "[23/23, 5 s left] 15 disturbed, 14 repeated",
    ]


def test_slow_trials_have_a_line_every_thirty_seconds(out: StringIO) -> None:
    now = [0.0]
    with LineDisplay(Console(file=out, width=80), clock=lambda: now[0]) as display:
        for number in range(1, 7):
            now[0] += 0.4 * EVERY_S
            display.end(_event(number), _standing(number))
    assert out.getvalue().splitlines() == ["[3/9, 5 s left]", "[6/9, 5 s left]"]


def test_of_failed_attempts_the_first_with_each_reason_is_printed(out: StringIO) -> None:
    failed = [{"code": "client-failed", "detail": "exit status 1"}]
    with LineDisplay(Console(file=out, width=80), clock=lambda: 0.0) as display:
        for number in range(1, 11):
            display.end(_event(number, reasons=failed), _standing(0))
    assert out.getvalue().splitlines() == [
        "b01-t01: invalid, client-failed: exit status 1",
        "[0/9, 5 s left] 10 invalid",
    ]


def test_estimates_so_far_are_on_the_same_line(out: StringIO) -> None:
    so_far = [InterimEstimate("h3/h2", "latency", "lan", 1.32), InterimEstimate("h3/h2", "latency", "poor", 0.76)]
    with LineDisplay(Console(file=out, width=80), clock=lambda: 0.0) as display:
        for number in range(1, 11):
            display.end(_event(number), _standing(number, 20, blocks_done=number // 5, so_far=so_far))
    assert out.getvalue().splitlines() == [
        "[10/20, 5 s left] estimated ratios so far, not final (2 of 3 blocks complete): h3/h2 latency: lan 1.32, poor "
        "0.76"
    ]


def test_estimates_end_with_the_last_block(out: StringIO) -> None:
    """`not final (12 of 12 blocks complete)` stood above an answer with other ratios."""
    so_far = [InterimEstimate("h3/h2", "latency", "lan", 1.32)]
    with LineDisplay(Console(file=out, width=80), clock=lambda: 0.0) as display:
        for number in range(1, 11):
            display.end(_event(number), _standing(number, 10, blocks_done=3, so_far=so_far))
    assert out.getvalue().splitlines() == ["[10/10, 5 s left]"]


@pytest.mark.parametrize(("number", "more"), [(2, "c1/a p50: 1.00"), (3, "and 2 more comparisons"), (0, "")])
def test_estimates_that_do_not_fit_into_one_line_are_counted(out: StringIO, number: int, more: str) -> None:
    """63 candidates of `h123 tune` made a line of 3000 characters. `h123 tune` shows no estimates: its levels are
    numbers."""
    so_far = [InterimEstimate(f"c{n}/a", "p50", "", 1) for n in range(number or 9)]
    with display_for(Console(file=out, width=80), interim=number > 0) as display:
        display.end(_event(1), _standing(9, blocks_done=1, so_far=so_far))
    head = "[9/9, 5 s left] estimated ratios so far, not final (1 of 3 blocks complete)"
    assert out.getvalue().strip() == (f"{head}: c0/a p50: 1.00; {more}" if more else head[:15])


def test_a_quiet_campaign_shows_nothing(out: StringIO) -> None:
    with display_for(Console(file=out, width=80), quiet=True) as display:
        display.show(_standing(1))
        display.say(WAITS, _standing(1))
        display.end(_event(1), _standing(9))
    assert out.getvalue() == ""
