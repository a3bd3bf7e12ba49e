"""What a trial asks of a subject."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from h123.base.transport import Name, Value
from h123.study.workload import WorkloadKind, workload_of


def asked(method: str, headers: Sequence[Mapping[str, str]] = ()) -> WorkloadKind:
    return workload_of({"method": method, "headers": list(headers)})


@dataclass(frozen=True)
class Demand:
    protocol: str = "h2"
    kind: str = "requests"
    workload: WorkloadKind = field(default_factory=lambda: asked("GET"))
    congestion: str = "cubic"
    transport: str = "deployed"
    store: str = "memory"
    backend_network: str | None = None
    clock: str = "wall"
    address: str = "ipv4"
    tls: str = "1.3"
    key_share: str = "X25519"
    certificate: int | None = None
    certificate_wait: int | None = None
    instant_ack: bool = True
    connections: str | int = "shared"
    cold: bool = False
    qlog: bool = False
    sessions: str = "full"
    settings: Mapping[Name, Value] = field(default_factory=dict)

    def setting(self, name: Name) -> Value | None:
        return self.settings.get(name)
