"""Command lines are filled in, and what a subject cannot do is said before anything runs."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from catalogue.small import MANIFEST, small
from h123.catalogue import Role, backend_command, check_supported, client_command, prefix, server_command
from h123.errors import UserError


@dataclass(frozen=True)
class Demand:
    protocol: str = "h2"
    method: str = "GET"
    congestion: str = "cubic"
    rate: float | None = None
    store: str = "memory"
    clock: str = "wall"


def test_placeholders_are_filled_in(tmp_path: Path) -> None:
    subject = small(tmp_path)
    command = server_command(
        subject, address="10.1.0.2", port=4443, protocol="h3", cert=Path("/c.pem"), key="/k.pem", congestion="reno"
    )
    assert command == [f"{prefix(subject)}/serve", "10.1.0.2:4443", "--h3", "/c.pem", "/k.pem", "reno"]
    assert Path(command[0]).is_absolute()
    command = client_command(subject, workload="w {port}", samples="s", facts="f", congestion="cubic")
    assert command == [f"{prefix(subject)}/serve", "w {port}", "s", "f"]


def test_clock_under_which_it_has_run_is_supported(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST.rstrip("\n") + '\nclocks = ["virtual"]\n')
    check_supported(subject, "server", Demand(clock="virtual"))


BACKEND = '[backend]\ncommand = ["{prefix}/serve", "{address}", "{port}"]\nstores = ["gcs"]\n'


def test_a_backend_is_started_with_its_address(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST + BACKEND)
    check_supported(subject, "backend", Demand(protocol="h1", store="gcs", congestion="bbr"))
    command = backend_command(subject, address="10.1.0.6", port=4443)
    assert command == [f"{prefix(subject)}/serve", "10.1.0.6", "4443"]


SUPPORTED: list[tuple[Role, Demand]] = [
    ("server", Demand()),
    ("client", Demand(method="POST")),
    ("server", Demand(congestion="bbr")),
    ("server", Demand(protocol="h3", congestion="reno")),
]


@pytest.mark.parametrize(("role", "demand"), SUPPORTED)
def test_supported(tmp_path: Path, role: Role, demand: Demand) -> None:
    check_supported(small(tmp_path), role, demand)


REFUSED: list[tuple[Role, Demand, list[str]]] = [
    ("client", Demand(protocol="h3"), ["client", "protocol h3", "h1, h2"]),
    ("server", Demand(method="POST"), ["server", "method POST", "supports GET"]),
    ("server", Demand(protocol="h3", congestion="bbr"), ["congestion for h3 bbr", "cubic, reno"]),
    ("client", Demand(rate=50.0), ["open loop", "`rate`"]),
    ("server", Demand(store="gcs"), ["server", "store gcs", "supports memory"]),
    ("backend", Demand(store="gcs"), ["small has no backend"]),
    ("server", Demand(clock="virtual"), ["server", "clock virtual", "supports wall"]),
]


@pytest.mark.parametrize(("role", "demand", "said"), REFUSED)
def test_refused(tmp_path: Path, role: Role, demand: Demand, said: list[str]) -> None:
    with pytest.raises(UserError) as refused:
        check_supported(small(tmp_path), role, demand)
    for words in ["small", *said]:
        assert words in refused.value.message


def test_a_role_that_is_not_there(tmp_path: Path) -> None:
    without = MANIFEST[: MANIFEST.index("[client]")] + MANIFEST[MANIFEST.index("[features]") :]
    with pytest.raises(UserError, match="has no client"):
        check_supported(small(tmp_path, without), "client", Demand())
