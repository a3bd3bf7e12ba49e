"""The circumstances of a result in its report."""

from types import SimpleNamespace
from typing import Any

from h123.report.circumstances import link_rows
from h123.results.lab_report import Link, Machine
from h123.study.network import Direction

S = 1_000_000_000


def attempt(lab_ns: int | None, *, virtual: bool = False, wall_ns: int = S) -> Any:
    """A trial of a second on two processors."""
    machine = Machine(cpus=2, wall_ns=wall_ns, busy_ns=S, steal_ns=0, lab_ns=lab_ns)
    links = [Link.model_construct(name="access", kind="emulated", check=None, directions=None, cross=None)]
    return SimpleNamespace(
        parameters={"network": "lan"},
        link=SimpleNamespace(up=Direction(), down=Direction()),
        report=SimpleNamespace(machine=machine, links=links),
        virtual=virtual,
    )


def lab(*attempts: Any) -> set[str]:
    return {row.lab for row in link_rows(attempts)}


def test_what_the_lab_took_of_the_processors_stands_beside_its_links() -> None:
    assert lab(attempt(S // 10), attempt(S // 5), attempt(S)) == {"10 %, at most 50 %"}


def test_what_the_lab_took_is_left_out_where_nobody_knows_it() -> None:
    assert lab(attempt(None)) == {"–"}
    assert lab(attempt(S, wall_ns=0)) == {"–"}
    assert lab(attempt(S, virtual=True)) == {"–"}
