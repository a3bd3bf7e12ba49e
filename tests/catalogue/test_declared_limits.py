"""What goes beyond what a subject declares is refused before anything runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catalogue.demand import Demand
from catalogue.small import MANIFEST, small
from h123.base.errors import UserError
from h123.base.units import parse_duration
from h123.catalogue import (
    Ability,
    catalogue,
    check_metrics,
    check_supported,
)
from h123.study import METRICS
from h123.study.workload import WorkloadParameters, workload_of

NARROW = MANIFEST.replace('methods = ["GET"]', 'methods = ["GET"]\nlimits = {streams = {h2 = 8}}')


def crowd(users: int, **values: object) -> Demand:
    told = {"protocol": "h2", "users": users, **values}
    return Demand(protocol=str(told["protocol"]), workload=workload_of(told))


@pytest.mark.parametrize(
    "demand",
    [
        crowd(8),
        crowd(9, connections="per-user"),
        crowd(16, connections=2),
        crowd(9, protocol="h1"),  # a connection each
        crowd(9, protocol="h3"),  # not limited
        crowd(9, rate=50.0),  # how many are in flight is not known before
    ],
)
def test_users_within_a_servers_limit(tmp_path: Path, demand: Demand) -> None:
    check_supported(small(tmp_path, NARROW), "server", demand)


@pytest.mark.parametrize(("demand", "found"), [(crowd(9), 9), (crowd(17, connections=2), 9)])
def test_more_users_on_a_connection_than_a_server_takes_are_refused(tmp_path: Path, demand: Demand, found: int) -> None:
    with pytest.raises(UserError) as refused:
        check_supported(small(tmp_path, NARROW), "server", demand)
    said = "server small has at most 8 requests of a connection in flight at once over h2, and the study has"
    assert refused.value.message == f"{said} {found} users on one"
    assert "`connections: per-user`" in refused.value.remedy
    check_supported(small(tmp_path / "as a client", NARROW), "client", demand)


IMPATIENT = MANIFEST.replace('methods = ["GET"]', 'methods = ["GET"]\nlimits = {idle = {h2 = "30s"}}')


def pausing(think: str, **values: object) -> Demand:
    entry = {"method": "GET", "size": 1000, "think": parse_duration(think)}
    told = {"kind": "mix", "protocol": "h2", "mix": [entry], **values}
    return Demand(protocol=str(told["protocol"]), workload=workload_of(told))


@pytest.mark.parametrize(
    "demand",
    [
        pausing("29s"),
        pausing("40s", protocol="h3"),  # not limited
        crowd(1, rate=1.0),
    ],
)
def test_pauses_within_a_servers_limit(tmp_path: Path, demand: Demand) -> None:
    check_supported(small(tmp_path, IMPATIENT), "server", demand)


@pytest.mark.parametrize(
    ("demand", "found", "remedy"),
    [
        (pausing("30s"), "30 s: its users `think` or `pause` so long", "`think`"),
        (crowd(10, rate=0.1), "92.1 s: its `rate` is so low", "`rate`"),
        (crowd(100, connections="per-user", rate=20.0), "57.6 s: its `rate` is so low", "fewer connections"),
    ],
)
def test_longer_pauses_than_a_server_waits_for_are_refused(
    tmp_path: Path, demand: Demand, found: str, remedy: str
) -> None:
    with pytest.raises(UserError) as refused:
        check_supported(small(tmp_path, IMPATIENT), "server", demand)
    said = (
        "server small closes connections over h2 that are idle for 30 s, and in the study a connection can be idle for"
    )
    assert refused.value.message.startswith(f"{said} {found}")
    assert remedy in refused.value.remedy
    able = IMPATIENT.replace("[client]\n", "[client]\nopen_loop = true\nkinds = ['requests', 'mix']\n")
    check_supported(small(tmp_path / "as a client", able), "client", demand)


EACH = {"per": "connection", "steps": [{"rate": 5, "lasts": "1s"}]}


@pytest.mark.parametrize(
    ("declared", "missing", "values", "said"),
    [
        ("open_loop = true\narrivals = true", "per_connection = true", {"arrivals": EACH}, "rate for each connection"),
        ("", "abandons = true", {"abandon": {"share": "50%", "after": "1s"}}, "cannot abandon requests"),
        ("", "retries = true", {"retry": {"after": "1s", "at_most": 2}}, "cannot retry requests"),
    ],
)
def test_what_a_client_does_not_declare_is_refused(
    tmp_path: Path, declared: str, missing: str, values: dict[str, Any], said: str
) -> None:
    read = WorkloadParameters.model_validate({"protocol": "h2", **values})
    demand = Demand(workload=read.workload)
    lacks, has = (
        small(tmp_path / name, MANIFEST.replace("[client]\n", f"[client]\n{told}\n"))
        for name, told in (("lacks it", declared), ("has it", f"{declared}\n{missing}"))
    )
    with pytest.raises(UserError, match=said):
        check_supported(lacks, "client", demand)
    check_supported(has, "client", demand)


def test_what_was_not_tried_over_ipv6_is_refused(tmp_path: Path) -> None:
    over_ipv6 = Demand(address="ipv6")
    for role in ("server", "client"):
        check_supported(catalogue()["go"], role, over_ipv6)
        with pytest.raises(UserError, match=f"small as a {role} was not tried over IPv6; go"):
            check_supported(small(tmp_path / role), role, over_ipv6)
    with pytest.raises(UserError, match="room for 1428 bytes"):
        check_supported(catalogue()["go"], "server", replace(over_ipv6, protocol="h3", settings={"max_datagram": 1448}))


def test_a_client_that_does_not_choose_is_refused() -> None:
    both = Demand(address="both")
    check_supported(catalogue()["go"], "server", both)
    check_supported(catalogue()["curl-tool-ngtcp2"], "client", replace(both, cold=False))
    with pytest.raises(UserError, match="client go does not choose between IPv4 and IPv6; autocannon, chromium, curl-"):
        check_supported(catalogue()["go"], "client", both)


def test_larger_certificates_than_a_client_accepts_are_refused() -> None:
    go = catalogue()["go"]
    check_supported(go, "client", Demand(certificate=40_000))
    check_supported(go, "client", Demand(protocol="h3", certificate=16_000))
    with pytest.raises(
        UserError, match="client go accepts at most 16 kB of certificates over h3, not 20 kB"
    ) as refused:
        check_supported(go, "client", Demand(protocol="h3", certificate=20_000))
    assert "load" in (refused.value.remedy or "")


LIMITED = MANIFEST.replace(
    'methods = ["GET", "POST"]', 'methods = ["GET"]\ncold = false\nconnections = ["shared", "number"]\nttfb = true', 1
)


@pytest.mark.parametrize(
    ("demand", "said"),
    [
        (Demand(cold=True), ["cannot make cold requests", "`cold: false`"]),
        (Demand(connections="per-user"), ["connections per-user", "shared, number"]),
    ],
)
def test_what_a_client_cannot_do_is_refused(tmp_path: Path, demand: Demand, said: list[str]) -> None:
    subject = small(tmp_path, LIMITED)
    check_supported(subject, "client", Demand(connections=2))
    with pytest.raises(UserError) as refused:
        check_supported(subject, "client", demand)
    for words in said:
        assert words in refused.value.message


def needed(*metrics: str) -> dict[str, Sequence[Ability]]:
    return {name: METRICS[name].needs.client for name in metrics}


@pytest.mark.parametrize("metric", ["handshake", "cold_latency", "cold_ttfb"])
def test_metrics_of_cold_requests_need_a_client_that_makes_them(tmp_path: Path, metric: str) -> None:
    subject = small(tmp_path, LIMITED)
    check_metrics(subject, needed("latency", "goodput", "ttfb", "cpu"))
    with pytest.raises(UserError, match=f"does not measure {metric}"):
        check_metrics(subject, needed("latency", metric))


def test_time_to_first_byte_needs_a_client_that_tells_it(tmp_path: Path) -> None:
    subject = small(tmp_path)
    check_metrics(subject, needed("latency", "handshake"))
    for metric in ("ttfb", "cold_ttfb"):
        with pytest.raises(UserError, match=f"does not measure {metric}"):
            check_metrics(subject, needed(metric))
