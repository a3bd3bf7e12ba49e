"""What a log has of a campaign's progress."""

from io import StringIO

from rich.console import Console

from h123.progress import Standing, display_for

WAITS = "3 disturbed trials wait for a calmer machine, for 9 s at most"


def _standing(done: int) -> Standing:
    return Standing(done=done, total=9, left_s=0.0, running=[], blocks_done=0, blocks=3, so_far=[])


def test_what_is_said_again_and_again_is_one_line() -> None:
    out = StringIO()
    with display_for(Console(file=out, width=80)) as display:
        for done in (8, 8, 8, 9, 9):
            display.say(WAITS, _standing(done))
    assert out.getvalue().splitlines() == [f"[8/9] {WAITS}", f"[9/9] {WAITS}"]
