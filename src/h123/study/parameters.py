"""The parameters of a trial: everything that a study may set or vary."""

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, TypeAdapter

from h123.study.document import Strict
from h123.study.quantities import RESOLVED, Duration, Size

Count = Annotated[int, Field(strict=True)]


class Parameters(Strict):
    """One trial's conditions, complete. Times are nanoseconds, sizes bytes, `rate` requests a second."""

    protocol: Literal["h1", "h2", "h3"]
    server: str
    client: str
    network: str
    congestion: Literal["cubic", "reno", "bbr"] = "cubic"
    clock: Literal["wall"] = "wall"
    method: Literal["GET", "POST"] = "GET"
    size: Annotated[Size, Field(ge=1)] = 100_000
    """Body bytes of one request (POST: sent, GET: received)."""
    users: Annotated[Count, Field(ge=1, le=10_000)] = 1
    requests: Annotated[Count, Field(ge=1, le=10_000_000)] = 10
    """Requests of each user, warm-up not counted."""
    rate: Annotated[float, Field(gt=0, strict=True)] | None = None
    """Requests a second of all users together (open loop); None: each user waits for its last answer (closed loop)."""
    connections: Literal["shared", "per-user"] | Annotated[Count, Field(ge=1, le=10_000)] = "shared"
    warmup: Annotated[Count, Field(ge=0, le=10_000_000)] = 0
    cold: StrictBool = True
    """One request on each new connection before anything else."""
    timeout: Annotated[Duration, Field(gt=0)] = 30 * 10**9
    """Of one request."""
    trial_timeout: Annotated[Duration, Field(gt=0)] = 120 * 10**9
    """Of the client's whole run."""


PARAMETER_NAMES = list(Parameters.model_fields)
_ADAPTERS: dict[str, TypeAdapter[Any]] = {
    name: TypeAdapter(Annotated[field.annotation, field]) for name, field in Parameters.model_fields.items()
}


def validate_parameter(name: str, value: object, *, resolved: bool = False) -> Any:
    """The value of one parameter as h123 keeps it. Raises pydantic's ValidationError."""
    return _ADAPTERS[name].validate_python(value, context=RESOLVED if resolved else None)
