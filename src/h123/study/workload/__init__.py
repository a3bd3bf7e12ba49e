"""The workload: what the client asks the server for. One type, a union of kinds, each a module here."""

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
    """What a kind is made of."""

    parameters: type[Load]
    answers: Callable[[Any], WorkloadKind]
    example: Callable[[Collection[str], bool], Mapping[str, object]]
    """Its own parameters for a small workload of these methods, by which a client is tried; its pages are real
    documents or not."""


KINDS: Mapping[str, KindParts] = {
    "requests": KindParts(RequestsParameters, Requests, lambda _methods, _documents: {}),
    "mix": KindParts(MixParameters, Mix, mix.example),
    "page": KindParts(PageParameters, Page, page.example),
}
"""By the name that a study has for it."""


class AnyWorkloadFile(RootModel[RequestsFile | MixFile | PageFile]):
    """workload.json of any kind."""

    def changed(self, **fields: object) -> Self:
        """With other values of these fields."""
        return type(self)(self.root.model_copy(update=fields))


class WorkloadParameters(RequestsParameters, MixParameters, PageParameters):
    """The parameters of all kinds side by side, flat as a study writes them."""

    kind: Literal["requests", "mix", "page"] = "requests"

    @property
    def workload(self) -> WorkloadKind:
        """All that others ask of it."""
        return KINDS[self.kind].answers(self)


_ANYTHING = {"protocol": "h1"}


def workload_of(values: Mapping[str, object]) -> WorkloadKind:
    """Of parameters as JSON has them. Those that imported samples do not tell, null, are None in the load; those that
    were not written yet in an earlier version have their defaults."""
    fields = WorkloadParameters.model_fields.keys() & values.keys()
    non_null = {name: values[name] for name in fields if values[name] is not None}
    read = WorkloadParameters.model_validate({**_ANYTHING, **non_null}, context=RESOLVED)
    nothing = dict.fromkeys(fields - non_null.keys() - {"kind", "headers"})
    return read.model_copy(update=nothing).workload


def own_parameters(kind: str) -> frozenset[str]:
    """Those that no other kind has."""
    return frozenset(KINDS[kind].parameters.model_fields) - frozenset(Load.model_fields)
