"""Defines the events of the journal, and checks the shape of events about trials before other code relies on it."""

import datetime as dt
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, cast, get_args

from pydantic import Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from h123.base.complaints import excerpt
from h123.base.files.journal import Line, damaged_line
from h123.base.strict import changed_value, describe
from h123.documents.campaign_file import MachineFacts
from h123.documents.reading import fault_of
from h123.documents.shapes import STRICT, Digest, Document, Reason, Seconds, Share
from h123.study import NETWORK_PARAMETERS, RESOLVED, Parameters, respelled_parameters
from h123.study.workload import own_parameters

TrialName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=240)]
"""The trial's name, which is also the name of a folder."""
PlaceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=40)]
MOVED = "moved"
"""The reason code of an attempt whose block ran again on another machine."""
Values = dict[str, Any]
"""Values of parameters, as JSON. Null means that imported samples do not give the value."""


@with_config(STRICT)
class DisturbanceFacts(TypedDict, total=False):
    """How much the machine disturbed an attempt. Absent from journals of earlier versions and of imported samples."""

    disturbed: bool
    """Whether `disturbance` is more than half the margin; for an invalid attempt, whether the machine may have caused
    the failure."""
    disturbance: Share | None
    """The largest of the `shares`, counting only metrics of the study's first family. 1 for an invalid attempt."""
    shares: dict[str, Share]
    """For each of the study's metrics, the fraction of its value that may be due to machine noise, 0 to 1."""
    crowded: bool
    """Whether time spent waiting for processors that other programs used is alone enough to make `disturbed` true."""
    noise: Annotated[float, Field(ge=0, le=1e6)]
    """The fraction of the processors' time that was not available to the trial."""


@with_config(STRICT)
class AttemptFacts(DisturbanceFacts):
    """The outcome of an attempt."""

    event: Literal["trial"]
    trial: TrialName
    attempt: Annotated[int, Field(ge=1, le=10**6)]
    block: Annotated[int, Field(ge=1, le=10**6)]
    position: Annotated[int, Field(ge=1, le=10**6)] | None
    """The attempt's place, from 1, in the order in which its block's attempts started. The trial's ID contains the
    planned place. Null for imported samples."""
    place: NotRequired[PlaceName]
    """The machine that ran the attempt. Absent from journals of earlier versions, which used a single machine."""
    lane: NotRequired[int]
    """The attempt's slot, from 1, among simultaneous trials."""
    alone: NotRequired[bool]
    """Whether no other trial ran at the same time."""
    cell: dict[str, str]
    """Levels by factor."""
    twin: bool
    """Whether this is the second run of the level that each block runs twice (A/A)."""
    run: NotRequired[object]
    """The label of the attempt's run, for imported samples."""
    parameters: Values
    """All parameters. A value is null only if its default is null, or if imported samples do not give it."""
    link_seed: Annotated[int, Field(ge=0, lt=2**63)] | None
    valid: bool
    reasons: list[Reason]
    seconds: Seconds | None
    seal: NotRequired[Digest | None]
    """SHA-256 of the attempt's seal.json."""


class TrialEvent(AttemptFacts):
    time: str
    """When it happened, in ISO 8601."""


class EventFile(Document):
    """The content of event.json: the journal's record of the attempt in this folder, without the seal."""

    h123: Literal["event/1"]
    event: TrialEvent


@with_config(STRICT)
class InterimLook(TypedDict):
    """An analysis of the campaign after a number of blocks."""

    event: Literal["look"]
    blocks: NotRequired[Annotated[int, Field(ge=0, le=100_000)]]
    """The number of complete blocks. Absent if there was none."""


@with_config(STRICT)
class SampleImport(TypedDict):
    event: Literal["import"]
    files: list[str]
    trials: int


@with_config(STRICT)
class BlockMove(TypedDict):
    """The move of a block to another machine, where it runs again completely. Its earlier attempts do not count."""

    event: Literal["moved"]
    block: int
    place: PlaceName
    """The machine that runs the block now."""
    before: PlaceName
    """The machine that ran the block before."""
    why: str


@with_config(STRICT)
class SecondRun(TypedDict):
    """A second run of a virtual trial on another machine, to check that both agree. The second run is not analysed."""

    event: Literal["second-run"]
    trial: TrialName
    place: PlaceName
    """The second machine."""
    files: dict[str, Digest]
    """The digests of the files that record the trial."""


@with_config(STRICT)
class CampaignStep(TypedDict):
    """A step of a campaign: it began, resumed, got an additional machine, repeated failed trials, was interrupted, or
    ended."""

    event: Literal["campaign", "resume", "joined", "retry", "interrupted", "finished"]
    version: NotRequired[str]
    """The version of h123."""
    trials: NotRequired[int]
    places: NotRequired[dict[PlaceName, MachineFacts]]
    """The machines available after this step."""
    valid: NotRequired[int]
    failed: NotRequired[int]


@with_config(STRICT)
class ShardJoined(TypedDict):
    """Blocks that ran as a shard and now belong to the campaign. The events of their attempts follow."""

    event: Literal["shard"]
    shard: str
    """The shard's blocks, as `--shard` names them."""
    folder: str
    """The name of the folder that the blocks came from."""
    blocks: list[int]
    """The blocks that this join added."""
    places: dict[PlaceName, MachineFacts]
    """The machines that ran the blocks, with their facts at that time."""


Happening = AttemptFacts | InterimLook | SampleImport | BlockMove | SecondRun | CampaignStep | ShardJoined
"""An event before the journal adds the time."""
Event = TrialEvent | InterimLook | SampleImport | BlockMove | SecondRun | CampaignStep | ShardJoined
"""An event of the journal, with its time."""
_HELD: dict[str, TypeAdapter[Any]] = {"trial": TypeAdapter(TrialEvent), "moved": TypeAdapter(BlockMove)}
_HELD["second-run"] = TypeAdapter(SecondRun)
_HELD |= {"look": TypeAdapter(InterimLook), "import": TypeAdapter(SampleImport), "shard": TypeAdapter(ShardJoined)}
_HELD |= dict.fromkeys(get_args(CampaignStep.__annotations__["event"]), TypeAdapter(CampaignStep))
"""The shape of each event. Events of later versions have no entry and are not checked."""

_ANYTHING = {"protocol": "h1", "server": "", "client": "", "network": ""}
_NEEDED = {"protocol", "network", "congestion", "clock", "users", "requests", "rate", "connections", "warmup", "cold"}
"""Parameters that the analysis reads for every kind of workload. Null means that imported samples do not give them."""
_LATER = {"sessions", "fallback", "announced", "visit"}
"""Parameters of the workload that earlier versions did not write."""


@dataclass(frozen=True)
class EventRange:
    """The names that a campaign's events may use."""

    factors: Mapping[str, Mapping[str, object]]
    networks: Container[str]
    unknown: Container[str] | None
    """Parameters that imported samples do not give. None: h123 measured the campaign itself."""


def check_trials(lines: list[Line], path: Path, possible: EventRange) -> list[Event]:
    """Return the events of the journal in `path`. Raises UserError for an event that is impossible in the campaign."""
    attempts: set[tuple[str, int]] = set()
    for number, line in enumerate(lines, start=1):
        name = line["event"]
        if name in _HELD and (fault := _misshapen(line)):
            raise damaged_line(path, number, f"not an event about a {name}: {fault}")
        if name == "trial":
            trial = cast(TrialEvent, line)
            trial["parameters"] = respelled_parameters(trial["parameters"])
            attempt = trial["trial"], trial["attempt"]
            if fault := "it occurs twice" if attempt in attempts else _odd(trial, possible):
                raise damaged_line(path, number, f"not an event about a trial: {fault}")
            attempts.add(attempt)
    events = cast(list[Event], lines)
    for at, event in enumerate(events):
        if event["event"] == "moved":
            supersede((earlier for earlier in events[:at] if earlier["event"] == "trial"), event)
    return events


def supersede(attempts: Iterable[AttemptFacts], move: BlockMove) -> None:
    """Mark all attempts of the moved block as invalid."""
    detail = f"block {move['block']} ran again in {move['place']}, because of {move['before']}: {move['why']}"
    for event in attempts:
        if event["block"] == move["block"] and not superseded(event):
            event["valid"], event["disturbed"] = False, False
            event["reasons"] = [{"code": MOVED, "detail": detail}]


def superseded(event: AttemptFacts) -> bool:
    """Return whether the attempt's block has since moved to another machine."""
    return any(reason["code"] == MOVED for reason in event["reasons"])


def _misshapen(line: Line) -> str | None:
    try:
        _HELD[line["event"]].validate_python(line, strict=True)
    except ValidationError as invalid:
        return fault_of(invalid)
    return None


def _odd(event: TrialEvent, possible: EventRange) -> str | None:
    """Describe the error in the event's cell, position, time or parameters. Return None if there is none."""
    cell, factors, parameters = event["cell"], possible.factors, event["parameters"]
    if cell.keys() != factors.keys() or any(level not in factors[factor] for factor, level in cell.items()):
        return f"{' '.join(cell.values())[:60]!r} is not a cell of this study"
    if event["position"] is None and possible.unknown is None:
        return "`position` is null, which only imported samples have"
    try:
        dt.datetime.fromisoformat(event["time"])
    except ValueError:
        return f"time is {excerpt(event['time'])}, not a time in ISO 8601"
    if silent := [name for name, value in parameters.items() if value is None and not _may_be_null(name, possible)]:
        return f"parameters.{silent[0]} is null"
    values = {name: value for name, value in parameters.items() if value is not None}
    try:
        read = Parameters.model_validate({**_ANYTHING, **values}, context=RESOLVED)
    except ValidationError as invalid:
        fault = invalid.errors()[0]
        return describe(fault, ".".join(map(str, ["parameters", *fault["loc"]])))[:300]
    needed = _NEEDED | own_parameters(read.kind) - _LATER
    if missing := needed - parameters.keys():
        return f"`parameters.{min(missing)}` is missing"
    if changed := changed_value(values, read.model_dump(mode="json")):
        return f"parameters.{'.'.join(changed.at)} is {excerpt(changed.value)}"
    networks = [values[name] for name in NETWORK_PARAMETERS if name in values]
    return next((f"there is no network {name!r}" for name in networks if name not in possible.networks), None)


def machines(events: Iterable[Event]) -> dict[str, MachineFacts]:
    facts = dict[str, MachineFacts]()
    for event in events:
        if event["event"] in ("campaign", "resume", "joined", "shard"):
            facts |= event.get("places", {})
    return facts


def _may_be_null(name: str, possible: EventRange) -> bool:
    field = Parameters.model_fields.get(name)
    return field is not None and (field.default is None or name in (possible.unknown or ()))
