"""Defines campaign.json (the resolved study, its seed, and what it runs on) and seal.json."""

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from h123.documents.shapes import STRICT, Count, Digest, Document
from h123.documents.shard import PATTERN
from h123.documents.trial_files import NetworkPath
from h123.study.networks.network import Resolved

Blocks = Annotated[int, Field(ge=1, le=100_000)]
Takes = list[Annotated[str, Field(pattern="^(server|client)$")]]
"""Roles in which a subject accepts a setting."""
VerifiedRole = Literal["server", "client"]
"""The roles in which h123 verifies subjects."""


@with_config(STRICT)
class SampleFile(TypedDict):
    name: str
    sha256: Digest


@with_config(STRICT)
class Redirects(TypedDict):
    """The responses that redirected the client."""

    answers: Count
    left_out: bool


@with_config(STRICT)
class ImportFacts(TypedDict):
    """The origin of imported samples (docs/contracts/import.md)."""

    kind: Literal["imported"]
    files: list[SampleFile]
    schema: str
    """The schema's name."""
    requests: Count
    blocks: bool
    """Whether the files show which runs were measured together."""
    runs: Count
    """The number of trials before several runs of a cell were combined."""
    timed: bool
    """Whether the start times of requests are known."""
    ordered: bool
    """Whether the order of the runs is known."""
    unknown: list[str]
    """The names of parameters whose values are unknown."""
    redirects: NotRequired[Redirects]


PathKind = Literal["bleach", "swap", "mark", "drop", "small", "black_hole", "icmp"]
"""A kind of path that interferes with ECN or drops large packets, as in the records of `h123 verify --paths`."""


@with_config(STRICT)
class PathFindings(TypedDict):
    """The behaviour of a sender on adverse paths."""

    packet_bytes: int | None
    """The size of the sender's most common IPv4 packets."""
    faults: Mapping[PathKind, str]
    """What the sender did wrong on each kind of path, in words."""


@with_config(STRICT)
class Proof(TypedDict):
    """The verification of a subject's current files in one role."""

    outcome: Literal["passed", "failed", "changed", "none", "own"]
    """changed: the subject passed or failed with different files. none: it was never verified in this role. own: a
    server that the study defines, with no declarations to verify."""
    upstream: bool
    """Whether the project published this verification (docs/verified). If not, it ran on this machine."""
    time: str | None
    """The time of the verification in ISO 8601."""
    failed: list[str]
    """The checks that failed."""
    first_flight: int | None
    """The number of packets in the subject's first flight over HTTP/3. None if it was not counted with these files."""
    paths: NotRequired[PathFindings | None]
    """The behaviour on adverse paths over HTTP/3. None if it was not measured with these files. Absent for the user's
    own server or in campaigns of earlier versions."""


@with_config(STRICT)
class SubjectFacts(TypedDict):
    """A subject as it was when the campaign began."""

    version: str
    stack: str
    language: str
    congestion: NotRequired[Mapping[str, str | list[str]]]
    """The congestion controllers, as in subject.toml."""
    initial_window: NotRequired[Takes]
    """The roles in which the subject's initial window can be chosen."""
    pacing: NotRequired[Takes]
    """The roles in which the subject's pacing can be chosen."""
    max_datagram: NotRequired[Takes]
    """The roles in which the subject's packet size can be chosen."""
    false_start: NotRequired[bool]
    """Whether the client uses TLS False Start, as in subject.toml."""
    proofs: NotRequired[Mapping[VerifiedRole, Proof]]
    """The verification of the subject in each of its roles in the campaign."""
    fingerprint: NotRequired[Digest]
    """The digest of the subject's files. Earlier versions recorded none, and the user's own server has none."""


Privileges = Literal["root", "user-namespace", "virtual-clock"]
"""The privileges that a lab can run with, best first. The last one means none, which is enough under the virtual
clock."""
PRIVILEGES: Mapping[Privileges, str] = {
    "root": "as root",
    "user-namespace": "without root, in a user namespace",
    "virtual-clock": "without root and namespaces",
}
"""The privileges in words."""


@with_config(STRICT)
class MachineFacts(TypedDict, total=False):
    """Facts about a machine. Empty if samples were imported; a fact is null if the machine does not provide it."""

    kernel: str | None
    architecture: str | None
    cpu: str | None
    cpus: int | None
    cpus_usable: int | None
    memory_bytes: Count | None
    distribution: str | None
    python: str | None
    load_average: list[float] | None
    governor: str | None
    clock_source: str | None
    default_congestion: str | None
    virtual: bool | None
    container: bool | None
    virtual_kernel: bool | None
    """Whether the kernel of the virtual clock is installed."""
    privileges: Privileges | None
    """The privileges of trials. Earlier versions always ran as root."""
    lab_build: str | None
    """The first digits of the SHA-256 of the lab's program. Earlier versions did not record it."""
    virtual_kernel_build: str | None
    """The first digits of the SHA-256 of the virtual clock's kernel. Null if there is none."""


@with_config(STRICT)
class Precision(TypedDict):
    """The width to which the intervals must narrow."""

    wanted: Annotated[float, Field(gt=0, le=1)]
    """Half of the relative width of an interval, such as 0.05 for ±5 %."""
    at_most: NotRequired[Blocks | None]
    """The largest number of blocks, from `--max-blocks`."""


class CampaignFile(Document):
    """The content of campaign.json. The `study` package parses the study and the networks in it."""

    h123: Literal["campaign/1"]
    study: Resolved
    """The resolved study."""
    networks: dict[str, NetworkPath]
    """The resolved networks, by name."""
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    blocks: Blocks
    filter: dict[str, list[str]]
    """For each factor, the levels that `--filter` kept."""
    looks: list[Blocks] = Field(default=[])
    """Planned looks, with `--until-decided`."""
    precision: Precision | None = None
    """The required width, with `--precision`."""
    shard: Annotated[str, Field(pattern=PATTERN)] | None = None
    """The blocks of the campaign that this folder runs. Null: all."""
    version: str
    """The version of h123 that began the campaign."""
    created: str
    """When the campaign began, in ISO 8601."""
    machine: MachineFacts
    subjects: dict[str, SubjectFacts]
    origin: ImportFacts | None = None
    """The origin of imported samples."""
    digest: Digest | None = None
    """SHA-256 of all other keys, as JSON with sorted keys. Early campaigns have none."""


class Seal(Document):
    """The content of seal.json: the digests of an attempt's files."""

    h123: Literal["seal/1"]
    files: dict[str, Digest]
