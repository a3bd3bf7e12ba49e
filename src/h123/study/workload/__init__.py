"""Defines workloads: what the client requests from the server. Each kind of workload has a module."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple, Self

from pydantic import RootModel

from h123.study.quantities import RESOLVED
from h123.study.workload import mix, page
from h123.study.workload.abandon import ABANDONED, LEAVING, Abandon
from h123.study.workload.arrivals import Arrivals
from h123.study.workload.client_file import FORMAT, Target, VisitOrder, WorkloadFile
from h123.study.workload.kind import WorkloadKind
from h123.study.workload.load import BEYOND_OK, OK, Connections, Exchange, Load, Upload, VisitShape
from h123.study.workload.mix import Mix, MixFile, MixParameters
from h123.study.workload.page import Page, PageFile, PageParameters
from h123.study.workload.requests import Requests, RequestsFile, RequestsParameters
from h123.study.workload.retry import Retry

__all__ = [
    "ABANDONED",
    "BEYOND_OK",
    "DEFAULT",
    "FORMAT",
    "KINDS",
    "LEAVING",
    "OK",
    "Abandon",
    "AnyWorkloadFile",
    "Arrivals",
    "Connections",
    "Exchange",
    "Load",
    "Retry",
    "Target",
    "Upload",
    "VisitOrder",
    "VisitShape",
    "WorkloadFile",
    "WorkloadKind",
    "WorkloadParameters",
    "own_parameters",
    "workload_of",
]

DEFAULT = "requests"


class KindParts(NamedTuple):
    """The parts that define a kind of workload: its parameters, its class, and a small example."""

    parameters: type[Load]
    answers: Callable[[Any], WorkloadKind]
    example: Callable[[Collection[str], bool], Mapping[str, object]]
    """Returns the parameters of a small workload with the given methods, for verifying a client. The second argument
    says whether pages are real documents."""


KINDS: Mapping[str, KindParts] = {
    "requests": KindParts(RequestsParameters, Requests, lambda _methods, _documents: {}),
    "mix": KindParts(MixParameters, Mix, mix.example),
    "page": KindParts(PageParameters, Page, page.example),
}
"""The kinds, keyed by their names in studies."""


class AnyWorkloadFile(RootModel[RequestsFile | MixFile | PageFile]):
    """The content of workload.json for any kind."""

    def changed(self, **fields: object) -> Self:
        """Return a copy of the file with new values for these fields."""
        return type(self)(self.root.model_copy(update=fields))


class WorkloadParameters(RequestsParameters, MixParameters, PageParameters):
    """The parameters of all kinds of workloads, in one flat list as in a study."""

    kind: Literal["requests", "mix", "page"] = "requests"

    @property
    def workload(self) -> WorkloadKind:
        return KINDS[self.kind].answers(self)


_ANYTHING = {"protocol": "h1"}


def workload_of(values: Mapping[str, object]) -> WorkloadKind:
    """Return the workload that parameters in JSON form describe. A null, which means that imported samples do not give
    the parameter, becomes None in the workload. A missing parameter, which an earlier version did not write, gets its
    default."""
    fields = WorkloadParameters.model_fields.keys() & values.keys()
    non_null = {name: values[name] for name in fields if values[name] is not None}
    read = WorkloadParameters.model_validate({**_ANYTHING, **non_null}, context=RESOLVED)
    nothing = dict.fromkeys(fields - non_null.keys() - {"kind", "headers"})
    return read.model_copy(update=nothing).workload


def own_parameters(kind: str) -> frozenset[str]:
    """Return the parameters that only this kind has."""
    return frozenset(KINDS[kind].parameters.model_fields) - frozenset(Load.model_fields)
