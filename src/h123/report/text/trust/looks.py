"""Writes sentences about when a campaign ended: its looks (interim analyses), and whether its intervals have the
required width."""

from h123.analysis.provenance.looks import early_look
from h123.analysis.sections import Verdicts
from h123.base.units import format_share
from h123.report.text.words import listed, unbroken

_SAID = {
    "planned": "as planned with --until-decided: each look has the same level",
    "spending": "the first look spends most of the error that the study allows, each further one most of what is left",
    "width": "the first look, when intervals were narrow enough, spends most of the error that the study allows, each "
    "further one most of what is left",
}


def width_lines(verdicts: Verdicts) -> list[str]:
    """Return a sentence for the summary about the required width of the answer's intervals. Empty if the campaign ran
    without `--precision`."""
    width = verdicts["width"]
    if width is None:
        return []
    precision, blocks = f"±{format_share(width['wanted'])}", verdicts["blocks"]["planned"]
    if width["narrow"]:
        text = f"every interval of the answer is within {precision} after {blocks} blocks, as asked with --precision"
    else:
        widest = f"up to ±{format_share(width['widest'])}" if width["widest"] is not None else "not bounded"
        enough = f"about {width['blocks']} blocks" if width["blocks"] else "more blocks than are practical"
        text = (
            f"intervals of the answer are {widest} after {blocks} blocks, not {precision} as asked with --precision: "
            f"that needs {enough}"
        )
    return [unbroken(text)]


def early_look_lines(verdicts: Verdicts) -> list[str]:
    """Return a sentence about the part of the error probability (alpha) that an early analysis used up."""
    early, planned = early_look(verdicts), verdicts["blocks"]["planned"]
    if early is None:
        return []
    level, later = (unbroken(f"{100 * value:.2g} %") for value in (early.level, early.level_of_next))
    return [
        f"This early look, after {early.blocks} of {planned} planned blocks, has used up error: with more blocks an "
        f"adjusted p must be at most {later} instead of {level}, so the campaign may need more than {planned} blocks. "
        "Finish a campaign before you look at it"
    ]


def look_lines(verdicts: Verdicts) -> list[str]:
    """Return a sentence for the summary about interim analyses. Empty if the campaign was only analysed once."""
    looks = verdicts["looks"]
    if len(looks["blocks"]) < 2 and looks["rule"] != "planned":
        return []
    blocks = [str(count) for count in looks["blocks"]]
    level, alpha = (unbroken(f"{100 * value:.2g} %") for value in (looks["level"], verdicts["alpha"]))
    return [
        f"looked at with {listed(blocks, 'and')} blocks, {_SAID[looks['rule']]}. At this one an adjusted p must be at "
        f"most {level}, so that of all looks together at most {alpha} find a difference where there is none"
    ]
