"""What is said of a campaign that was looked at more than once."""

from collections.abc import Mapping
from typing import Any

from h123.report.words import listed, unbroken

_SAID = {
    "planned": "as planned with --until-decided: each look has the same level",
    "spending": "the first look spends most of the error that the study allows, each further one most of what is left",
}


def look_lines(verdicts: Mapping[str, Any]) -> list[str]:
    """A sentence for the summary; none where the first look was the only one."""
    looks = verdicts["looks"]
    if len(looks["blocks"]) < 2 and looks["rule"] == "spending":
        return []
    blocks = [str(count) for count in looks["blocks"]]
    level, alpha = (unbroken(f"{100 * value:.2g} %") for value in (looks["level"], verdicts["alpha"]))
    return [
        f"looked at with {listed(blocks, 'and')} blocks, {_SAID[looks['rule']]}. At this one an adjusted p must be at "
        f"most {level}, so that of all looks together at most {alpha} find a difference where there is none"
    ]
