"""The workload: what the client requests from the server. One type, a union of kinds, each a module here."""

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
    """The parts of a kind."""

    parameters: type[Load]
    answers: Callable[[Any], WorkloadKind]
    example: Callable[[Collection[str], bool], Mapping[str, object]]
    """Its parameters for a small workload of these methods, which the verification of a client uses. The second
    argument says whether pages are real documents."""


KINDS: Mapping[str, KindParts] = {
    "requests": KindParts(RequestsParameters, Requests, lambda _methods, _documents: {}),
    "mix": KindParts(MixParameters, Mix, mix.example),
    "page": KindParts(PageParameters, Page, page.example),
}
"""The kinds by their names in studies."""


class AnyWorkloadFile(RootModel[RequestsFile | MixFile | PageFile]):
    """workload.json of any kind."""

    def changed(self, **fields: object) -> Self:
        """The file with other values of these fields."""
        return type(self)(self.root.model_copy(update=fields))


class WorkloadParameters(RequestsParameters, MixParameters, PageParameters):
    """The parameters of all kinds side by side, flat as a study writes them."""

    kind: Literal["requests", "mix", "page"] = "requests"

    @property
    def workload(self) -> WorkloadKind:
        """The workload of these parameters."""
        return KINDS[self.kind].answers(self)


_ANYTHING = {"protocol": "h1"}


def workload_of(values: Mapping[str, object]) -> WorkloadKind:
    """The workload of parameters as JSON. In the load, parameters that imported samples do not give (null) are None.
    Parameters that an earlier version did not write have their defaults."""
    fields = WorkloadParameters.model_fields.keys() & values.keys()
    non_null = {name: values[name] for name in fields if values[name] is not None}
    read = WorkloadParameters.model_validate({**_ANYTHING, **non_null}, context=RESOLVED)
    nothing = dict.fromkeys(fields - non_null.keys() - {"kind", "headers"})
    return read.model_copy(update=nothing).workload


def own_parameters(kind: str) -> frozenset[str]:
    """The parameters that no other kind has."""
    return frozenset(KINDS[kind].parameters.model_fields) - frozenset(Load.model_fields)
