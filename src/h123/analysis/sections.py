"""Lists the sections of verdicts.json, and reads the file (docs/contracts/verdicts.md).

A section's module defines its keys and rows, and the function that computes them from a case. To add a section, see
docs/guides/section.md. Rows are dictionaries instead of objects of a class, because a large campaign has tens of
thousands of them. Keys that earlier versions did not write are optional.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from h123.analysis.as_published import document as as_published
from h123.analysis.claims import section as claims
from h123.analysis.comparisons import answers, capacity, confounding, failed_attempts, failures, interactions, tails
from h123.analysis.explanations import causes, changes, transport, windows
from h123.analysis.machines import section as machines
from h123.analysis.provenance import (
    adverse_paths,
    counts,
    discarded_files,
    gate,
    heading,
    looks,
    origin,
    places,
    remote_server,
    seals,
    shard,
    unverified_subjects,
    values,
)
from h123.analysis.respelled import respelled_verdicts
from h123.analysis.section import Section
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
from h123.base.errors import UserError
from h123.base.paths import typed
from h123.documents import fault_of, read_content
from h123.store import CampaignFolder

SECTIONS: Sequence[Section[Any]] = [
    heading.SECTION,
    looks.SECTION,
    width.SECTION,
    counts.SECTION,
    seals.SECTION,
    failed_attempts.SECTION,
    answers.SECTION,
    places.SECTION,
    machines.SECTION,
    shard.SECTION,
    unverified_subjects.SECTION,
    adverse_paths.SECTION,
    discarded_files.SECTION,
    judgement.SECTION,
    failures.SECTION,
    outlook.SECTION,
    transport.SECTION,
    remote_server.SECTION,
    causes.SECTION,
    changes.SECTION,
    windows.SECTION,
    ladder.SECTION,
    capacity.SECTION,
    decomposition.SECTION,
    interactions.SECTION,
    as_published.SECTION,
    claims.SECTION,
    disturbances.SECTION,
    repetitions.SECTION,
    confounding.SECTION,
    tails.SECTION,
    twins.SECTION,
    audits.SECTION,
    origin.SECTION,
    values.SECTION,
]
"""All sections that the analysis computes. `record_gate` adds the outcome of the gate's conditions."""


@with_config(strict=True, allow_inf_nan=False)
class Verdicts(
    heading.HeadingPart,
    looks.LooksPart,
    width.WidthPart,
    counts.CountsPart,
    seals.UnsealedPart,
    failed_attempts.FailedAttemptsPart,
    answers.AnswersPart,
    places.PlacesPart,
    machines.MachinesPart,
    shard.ShardPart,
    unverified_subjects.UnprovedPart,
    adverse_paths.AdversePathsPart,
    discarded_files.DiscardedPart,
    gate.GatePart,
    judgement.QualifiedPart,
    failures.FailuresPart,
    outlook.OutlookPart,
    transport.TransportPart,
    remote_server.RemoteServersPart,
    causes.CausesPart,
    changes.ChangesPart,
    windows.WindowsPart,
    ladder.LadderPart,
    capacity.CapacityPart,
    decomposition.PartsPart,
    interactions.InteractionsPart,
    as_published.AsPublishedPart,
    claims.ClaimsPart,
    disturbances.DisturbancesPart,
    repetitions.RepeatsPart,
    confounding.ConfoundedPart,
    tails.TailsPart,
    twins.TwinsPart,
    audits.AuditsPart,
    origin.OriginPart,
    values.ValuesPart,
    TypedDict,
):
    """The findings of `h123 analyse` about a campaign: the parts of all sections."""


def read_verdicts(folder: CampaignFolder) -> Verdicts:
    """Read the results of the last `h123 analyse`. Raises UserError if there are none, or if the file has a different
    shape."""
    file, again = folder.verdicts, f"run `h123 analyse {typed(folder.path)}`"
    if not file.is_file():
        raise UserError(f"{folder.path} has not been analysed: it has no verdicts.json", remedy=again)
    return verdicts_of(read_content(file, "verdicts/1"), file, again)


def verdicts_of(content: dict[str, Any], file: Path | str, again: str | None = None) -> Verdicts:
    """Return the content of `file` as verdicts. Raises UserError if the content has a different shape, with the remedy
    `again`."""
    try:
        return _model().validate_python(respelled_verdicts(content), strict=True)
    except ValidationError as invalid:
        raise UserError(f"{file} is not as h123 writes it: {fault_of(invalid)}", remedy=again) from None


@cache
def _model() -> TypeAdapter[Verdicts]:
    return TypeAdapter(Verdicts)
