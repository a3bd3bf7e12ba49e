"""Registers the sentences of each section of verdicts.json, and where they appear."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from h123.analysis import headline
from h123.analysis.as_published import document as published
from h123.analysis.claims import section as ledgers
from h123.analysis.comparisons import answers, capacity, confounding, failed_attempts, failures, tails
from h123.analysis.explanations import transport, windows
from h123.analysis.machines import section as machines
from h123.analysis.provenance import (
    adverse_paths,
    counts,
    discarded_files,
    looks,
    origin,
    places,
    remote_server,
    seals,
    shard,
    unverified_subjects,
)
from h123.analysis.section import Section
from h123.analysis.sections import Verdicts
from h123.analysis.verdicts import (
    audits,
    decomposition,
    disturbances,
    judgement,
    ladder,
    outlook,
    repetitions,
    twins,
    width,
)
from h123.report.text import advice, as_published, claims
from h123.report.text import capacity as capacity_words
from h123.report.text import ladder as ladder_words
from h123.report.text.explanations import decomposition as decomposition_words
from h123.report.text.explanations.reasons import reason_lines
from h123.report.text.explanations.windows import window_lines
from h123.report.text.trust import caveats, completeness
from h123.report.text.trust.disturbances import disturbed_lines
from h123.report.text.trust.failed_attempts import failed_attempt_lines, often_failed_lines
from h123.report.text.trust.failures import failure_lines
from h123.report.text.trust.looks import early_look_lines, look_lines, width_lines
from h123.report.text.trust.machines import machine_lines
from h123.report.text.trust.other_answers import other_answers_lines
from h123.report.text.trust.provenance import place_lines, remote_server_lines
from h123.report.text.trust.shard import shard_lines
from h123.report.text.trust.unverified_subjects import failed_lines, unproved_lines


class SectionLine(NamedTuple):
    """A sentence below the answer, and how the terminal shows it."""

    text: str
    indent: int = 2
    style: str = ""


Lines = Callable[[Verdicts], Sequence[str]]


@dataclass(frozen=True)
class SectionWords:
    """The sentences of a section. Each function takes the section's own part and the other parts of verdicts.json that
    its signature names."""

    section: Section[Any]
    first: Lines | None = None
    """Facts that readers must know before any answer: servers that did different work, subjects that failed."""
    below: Callable[[Verdicts], Iterable[SectionLine]] | None = None
    trust: Lines | None = None
    """Facts to know before you trust the answer."""
    last: Lines | None = None


def _plain(lines: Lines) -> Callable[[Verdicts], Iterable[SectionLine]]:
    return lambda verdicts: map(SectionLine, lines(verdicts))


def _transport(verdicts: transport.TransportPart) -> Iterable[SectionLine]:
    return [SectionLine(f"Transport {row['said']}.", style="dim") for row in verdicts.get("transport", [])]


def _advice(verdicts: Verdicts) -> Iterable[SectionLine]:
    return map(SectionLine, advice.advice(verdicts))


def _decomposition(verdicts: Verdicts) -> Iterable[SectionLine]:
    parts = verdicts["parts"]
    lines = decomposition_words.terminal_lines(parts, headline(verdicts["comparisons"])) if parts else []
    return [SectionLine(line, indent=0) for line in lines]


def _ladder(verdicts: Verdicts) -> Iterable[SectionLine]:
    lines = ladder_words.terminal_lines(verdicts.get("ladder", []), headline(verdicts["comparisons"]))
    return [SectionLine(line, indent=0) for line in lines]


def _capacity(verdicts: capacity.CapacityPart) -> Iterable[SectionLine]:
    return [SectionLine(line, indent=0) for line in capacity_words.terminal_lines(verdicts.get("capacity"))]


def _as_published(verdicts: published.AsPublishedPart) -> Sequence[str]:
    published_part = verdicts["as_published"]
    return as_published.terminal_lines(published_part) if published_part else []


def _claims(verdicts: ledgers.ClaimsPart) -> Sequence[str]:
    return claims.terminal_lines(verdicts["claims"])


SAID: Sequence[SectionWords] = [
    SectionWords(shard.SECTION, first=shard_lines),
    SectionWords(answers.SECTION, first=other_answers_lines),
    SectionWords(counts.SECTION, trust=completeness.count_lines),
    SectionWords(twins.SECTION, trust=completeness.twin_lines),
    SectionWords(seals.SECTION, trust=completeness.seal_lines),
    SectionWords(places.SECTION, trust=place_lines),
    SectionWords(machines.SECTION, trust=machine_lines),
    SectionWords(remote_server.SECTION, trust=remote_server_lines),
    SectionWords(unverified_subjects.SECTION, first=failed_lines, trust=unproved_lines),
    SectionWords(adverse_paths.SECTION, trust=caveats.adverse_path_lines),
    SectionWords(discarded_files.SECTION, trust=completeness.discarded_lines),
    SectionWords(repetitions.SECTION, trust=caveats.repeated_lines),
    SectionWords(confounding.SECTION, trust=caveats.confounded_lines),
    SectionWords(judgement.SECTION, below=_plain(reason_lines), trust=caveats.handshake_lines),
    SectionWords(tails.SECTION, trust=caveats.tail_lines),
    SectionWords(looks.SECTION, first=early_look_lines, trust=look_lines),
    SectionWords(width.SECTION, trust=width_lines),
    SectionWords(failed_attempts.SECTION, first=often_failed_lines, trust=failed_attempt_lines),
    SectionWords(failures.SECTION, trust=failure_lines),
    SectionWords(disturbances.SECTION, trust=disturbed_lines),
    SectionWords(origin.SECTION, trust=completeness.import_lines),
    SectionWords(audits.SECTION, trust=completeness.audit_lines),
    SectionWords(windows.SECTION, below=_plain(window_lines)),
    SectionWords(transport.SECTION, below=_transport),
    SectionWords(outlook.SECTION, below=_advice),
    SectionWords(decomposition.SECTION, below=_decomposition),
    SectionWords(ladder.SECTION, below=_ladder),
    SectionWords(capacity.SECTION, below=_capacity),
    SectionWords(published.SECTION, last=_as_published),
    SectionWords(ledgers.SECTION, last=_claims),
]
"""The sections in the order of their sentences."""


def first_lines(verdicts: Verdicts) -> list[str]:
    return [line for registered in SAID if registered.first for line in registered.first(verdicts)]


def below(verdicts: Verdicts) -> list[SectionLine]:
    """Return the sentences below the answer."""
    return [line for registered in SAID if registered.below for line in registered.below(verdicts)]


def trust(verdicts: Verdicts) -> list[str]:
    """Return sentences on how far to trust the answer: completeness, A/A pairs, caveats, audits."""
    return [line for registered in SAID if registered.trust for line in registered.trust(verdicts)]


def last(verdicts: Verdicts) -> list[str]:
    return [line for registered in SAID if registered.last for line in registered.last(verdicts)]


_SPLIT = (decomposition.SECTION, ladder.SECTION, capacity.SECTION)


def further(verdicts: Verdicts) -> list[str]:
    """Return a study's findings beyond comparisons: parts of differences, steps, capacity, published claims."""
    split = [one for one in SAID if one.section in _SPLIT and one.below]
    lines = [line.text.strip() for one in split if one.below for line in one.below(verdicts)]
    return lines + last(verdicts)
