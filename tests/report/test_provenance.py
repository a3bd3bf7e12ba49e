"""The circumstances of a result in its report."""

from types import SimpleNamespace
from typing import Any

from h123.documents.lab_report import MachineLoad
from h123.report.page.provenance import lab_shares

S = 1_000_000_000


def attempt(lab_ns: int | None, *, network: str = "lan", virtual: bool = False, wall_ns: int = S) -> Any:
    """A trial of a second on two processors."""
    machine = MachineLoad(cpus=2, wall_ns=wall_ns, busy_ns=S, steal_ns=0, lab_ns=lab_ns)
    return SimpleNamespace(parameters={"network": network}, report=SimpleNamespace(machine=machine), virtual=virtual)


def test_what_the_lab_took_of_the_processors_is_told_of_each_network() -> None:
    trials = [attempt(S // 10), attempt(S // 5), attempt(S), attempt(S // 50, network="poor")]
    assert lab_shares(trials) == {"lan": "10 %, at most 50 %", "poor": "1 %, at most 1 %"}


def test_what_the_lab_took_is_left_out_where_nobody_knows_it() -> None:
    assert lab_shares([attempt(None), attempt(S, wall_ns=0), attempt(S, virtual=True)]) == {}
