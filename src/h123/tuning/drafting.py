"""Drafts the study of `h123 tune`. It has all candidates, networks and requests. Each round runs part of the study."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from h123.probe import Draft, DraftedRequests
from h123.study import QUEUE, TRAFFIC, LevelFilter
from h123.tuning.candidates import DEFAULT

STUDY = "tune"
ASKED, ALSO = "asked", "also"
"""The levels of the factor `load`."""
COSTS = (QUEUE.name, TRAFFIC.name)
"""The metrics that show what a setting costs other traffic on the link."""
_HEAD = "# Drafted by `h123 tune`, whose command repeats it.\n"


def study_text(
    draft: Draft, *, metric: str, margin: float, blocks: int, question: str, also: DraftedRequests | None
) -> str:
    """Return the study's text. `also` are further requests, which only the last round makes."""
    content: dict[str, Any] = draft.content()
    factors, settings = content["factors"], content["settings"]
    if also:
        factors["load"] = {ASKED: {"mix": settings.pop("mix")}, ALSO: {"mix": also.settings["mix"]}}
    costs = [name for name in COSTS if name != metric]
    loads = {"each": ["load"]} if also else {}
    content |= {"name": STUDY, "question": question, "blocks": blocks}
    content["compare"] |= {
        "margin": margin,
        "families": [
            {"name": "answer", "correction": "holm", "metrics": [metric], **loads},
            *({"name": name.replace("_", "-"), "correction": "bh", "metrics": [name], **loads} for name in costs),
        ],
    }
    return _HEAD + yaml.safe_dump(content, sort_keys=False, width=120, default_flow_style=None)


def levels(candidates: Sequence[str], networks: Sequence[str], *, also: bool, last: bool) -> LevelFilter:
    """Return the part of the study that a round runs."""
    loads = {"load": [ASKED, ALSO] if last else [ASKED]} if also else {}
    return {"server": [DEFAULT, *candidates], "network": [*networks], **loads}


def seed_of(seed: int, part: str) -> int:
    """Return the seed of a round. Each round has its own, so that no two rounds have the same blocks."""
    return int.from_bytes(hashlib.sha256(f"h123 tune {seed} {part}".encode()).digest()[:6])


def changed(values: Mapping[str, str], default: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value != default[name]}
