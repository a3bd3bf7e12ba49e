"""Command lines are filled in, and what a subject cannot do is said before anything runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from catalogue.demand import Demand, asked
from catalogue.small import MANIFEST, small
from h123.base.errors import UserError
from h123.base.roots import mounted
from h123.catalogue import (
    Role,
    check_supported,
    command_line,
    controller,
    is_edge,
    server_uses,
)
from h123.study.workload import workload_of

DOCUMENT = {"name": "/", "type": "document", "size": 1000}


def test_placeholders_are_filled_in(tmp_path: Path) -> None:
    subject = small(tmp_path)
    command = command_line(
        subject,
        "server",
        address="10.1.0.2",
        port=4443,
        protocol="h3",
        cert=Path("/c.pem"),
        key="/k.pem",
        congestion="reno",
    )
    assert command == [mounted("subjects", "small", "serve"), "10.1.0.2:4443", "--h3", "/c.pem", "/k.pem", "reno"]
    assert Path(command[0]).is_absolute()
    command = command_line(subject, "client", workload="w {port}", samples="s", facts="f", congestion="cubic")
    assert command == [mounted("subjects", "small", "serve"), "w {port}", "s", "f"]


def test_clock_under_which_it_has_run_is_supported(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST.rstrip("\n") + '\nclocks = ["wall", "virtual"]\n')
    check_supported(subject, "server", Demand(clock="virtual"))


BACKEND = '[backend]\ncommand = ["{prefix}/serve", "{address}", "{port}"]\nstores = ["gcs"]\n'


def test_a_backend_is_started_with_its_address(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST + BACKEND)
    check_supported(subject, "backend", Demand(protocol="h1", store="gcs", congestion="bbr"))
    command = command_line(subject, "backend", address="10.1.0.6", port=4443)
    assert command == [mounted("subjects", "small", "serve"), "10.1.0.6", "4443"]


def test_an_origin_is_started_with_its_address(tmp_path: Path) -> None:
    origin = '[origin]\ncommand = ["{prefix}/serve", "{address}", "{port}"]\n'
    subject = small(tmp_path, MANIFEST.replace("{congestion}", "{upstream}") + origin)
    check_supported(subject, "origin", Demand(protocol="h9", store="gcs"))
    assert command_line(subject, "origin", address="127.0.0.1", port=8080) == [
        mounted("subjects", "small", "serve"),
        "127.0.0.1",
        "8080",
    ]
    assert server_uses(subject, "upstream")
    assert not server_uses(subject, "files")


def test_placeholders_of_bodies_and_logs_are_filled_in(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST.replace('"{cert}", "{key}"', '"{block}", "{files}", "{upstream}", "{qlog}"'))
    values = {"block": "/b", "files": "/f", "upstream": "127.0.0.1:1", "qlog": ""}
    command = command_line(subject, "server", address="a", port=1, protocol="h3", congestion="reno", **values)
    assert command[3:] == ["/b", "/f", "127.0.0.1:1", "", "reno"]


PAGE = {"site": {"name": "one", "resources": [{"name": "/", "type": "document", "size": 500}]}}
PLAIN, REAL = (workload_of({"kind": "page", **PAGE, "documents": real}) for real in (False, True))


@pytest.mark.parametrize(
    ("placeholders", "serves"),
    [('"{documents}"', True), ('"{upstream}"', True), ('"{upstream}", "{files}"', False), ('"{files}"', False)],
)
def test_documents_are_served_by_who_has_them_or_passes_all_on(tmp_path: Path, placeholders: str, serves: bool) -> None:
    subject = small(tmp_path, MANIFEST.replace('"{cert}", "{key}"', placeholders))
    check_supported(subject, "server", Demand(kind="page", workload=PLAIN))
    demand = Demand(kind="page", workload=REAL)
    if serves:
        check_supported(subject, "server", demand)
        return
    with pytest.raises(UserError, match="server small does not serve a page's own documents"):
        check_supported(subject, "server", demand)


@pytest.mark.parametrize(
    ("placeholders", "edge", "can"),
    [
        ('"{upstream}"', False, True),
        ('"{upstream}", "{files}"', False, False),
        ('"{upstream}", "{files}"', True, True),
        ('"{files}"', False, False),
    ],
)
def test_an_edge_is_who_can_pass_all_on(tmp_path: Path, placeholders: str, edge: bool, can: bool) -> None:
    manifest = MANIFEST.replace('"{cert}", "{key}"', placeholders)
    subject = small(tmp_path, manifest.replace("listens =", "edge = true\nlistens =") if edge else manifest)
    there = Demand(kind="page", workload=REAL, backend_network="edge")
    assert is_edge(subject, there) == can
    assert not is_edge(subject, replace(there, backend_network=None))
    if can:  # and so it serves a page's documents, which are behind it
        check_supported(subject, "server", there)
        return
    with pytest.raises(UserError, match="nothing is behind the server small"):
        check_supported(subject, "server", there)


def test_a_browser_loads_real_documents_alone(tmp_path: Path) -> None:
    browser = MANIFEST.replace("[client]", '[client]\nkinds = ["page"]\ndocuments = true')
    subject = small(tmp_path, browser)
    check_supported(subject, "client", Demand(kind="page", workload=REAL))
    with pytest.raises(UserError, match="loads only pages made of real documents") as no:
        check_supported(subject, "client", Demand(kind="page", workload=PLAIN))
    assert no.value.remedy == "write `documents: true` in the study"


SUPPORTED: list[tuple[Role, Demand]] = [
    ("server", Demand()),
    ("client", Demand(workload=asked("POST"))),
    ("server", Demand(congestion="bbr")),
    ("server", Demand(protocol="h3", congestion="reno")),
    ("server", Demand(protocol="h3", congestion="default")),
    ("client", Demand(protocol="h2", congestion="bbr")),  # it sends no bodies
    ("server", Demand(qlog=True)),  # no QUIC, so no log to miss
    ("client", Demand(cold=True, connections=3)),
    ("server", Demand(settings={"initial_window": 10, "pacing": "off"})),  # the lab's to set
    ("client", Demand(protocol="h3", settings={"initial_window": 10})),  # it sends no bodies
    ("server", Demand(protocol="h3", transport="matched", settings={"initial_window": 16})),  # named, not refused
]
RESUMING = MANIFEST.replace(
    'methods = ["GET", "POST"]',
    'methods = ["GET"]\nsessions = {resumed = ["h2", "h3"], fast-open = ["h2"], early = ["h3"]}',
    1,
).replace("[features]", '[features]\nresumption = ["h1", "h3"]\nzero_rtt = ["h3"]', 1)


def test_sessions_are_resumed_where_both_ends_say_so(tmp_path: Path) -> None:
    subject = small(tmp_path, RESUMING)
    for role, protocols in (("client", ["h2", "h3"]), ("server", ["h1", "h3"])):
        for protocol in ("h1", "h2", "h3"):
            fast = [one for one in protocols if one != "h3"]  # of the server its kernel has it
            ways = {"full": ["h1", "h2", "h3"], "resumed": protocols, "fast-open": fast, "early": ["h3"]}
            for sessions, over in ways.items():
                demand = Demand(protocol=protocol, sessions=sessions)
                if protocol in over:
                    check_supported(subject, role, demand)
                    continue
                with pytest.raises(UserError, match=f"subject small as a {role} .* over {protocol}, only over") as no:
                    check_supported(subject, role, demand)
                assert f"`sessions: full` for {protocol}" in (no.value.remedy or "")
    with pytest.raises(UserError, match=r"has no early data \(0-RTT\) over h2$"):
        check_supported(small(tmp_path / "without"), "client", Demand(sessions="early"))


OLDER = MANIFEST.replace('"{congestion}"]', '"{congestion}", "{tls}"]').replace(
    "[features]", '[features]\ntls = ["1.3", "1.2"]'
)


def test_an_older_tls_is_asked_for_over_tcp_alone(tmp_path: Path) -> None:
    subject = small(tmp_path, OLDER)
    roles: list[Role] = ["server", "client"]
    for role in roles:
        check_supported(subject, role, Demand(protocol="h2", tls="1.2"))
        with pytest.raises(UserError, match=r"no HTTP/3 over TLS 1\.2: QUIC requires TLS 1\.3"):
            check_supported(subject, role, Demand(protocol="h3", tls="1.2"))
        with pytest.raises(UserError, match=r"resumes sessions only over TLS 1\.3"):
            check_supported(subject, role, Demand(tls="1.2", sessions="resumed"))


HYBRID = OLDER.replace('"{tls}"]', '"{tls}", "{key_share}"]').replace(
    "[features]", '[features]\nkey_shares = ["X25519", "X25519MLKEM768"]'
)


def test_a_post_quantum_key_share_is_of_the_newest_tls(tmp_path: Path) -> None:
    subject = small(tmp_path, HYBRID)
    roles: list[Role] = ["server", "client"]
    for role in roles:
        check_supported(subject, role, Demand(key_share="X25519MLKEM768"))
        with pytest.raises(UserError, match=r"a key exchange of TLS 1\.3, but the study requires 1\.2"):
            check_supported(subject, role, Demand(key_share="X25519MLKEM768", tls="1.2"))


@pytest.mark.parametrize(
    ("manifest", "feature", "word"),
    [
        (OLDER.replace(', "{tls}"', ""), "tls", "tls"),
        (OLDER.replace('"1.3", "1.2"', '"1.3"'), "tls", "tls"),
        (HYBRID.replace(', "{key_share}"', ""), "key_shares", "key_share"),
        (HYBRID.replace(', "X25519MLKEM768"', ""), "key_shares", "key_share"),
        (HYBRID.replace('"{tls}"', '"{tls}", "{certificate_wait}"'), "certificate_wait", "certificate_wait"),
    ],
)
def test_a_server_with_a_choice_in_tls_is_given_it(tmp_path: Path, manifest: str, feature: str, word: str) -> None:
    with pytest.raises(UserError, match=rf"features.{feature}: .*\{{{word}\}}"):
        small(tmp_path, manifest)


def test_a_fallback_needs_a_client_that_has_one_and_a_second_server(tmp_path: Path) -> None:
    falling = Demand(protocol="h3", workload=workload_of({"protocol": "h3", "method": "GET", "fallback": True}))
    able = small(
        tmp_path / "able", MANIFEST.replace('methods = ["GET", "POST"]', 'methods = ["GET"]\nfallback = true', 1)
    )
    check_supported(able, "server", falling)
    check_supported(able, "client", falling)
    with pytest.raises(UserError, match="client small has no fallback from HTTP/3 to HTTP/2"):
        check_supported(small(tmp_path / "without"), "client", falling)
    stores = MANIFEST.replace("listens = {", 'stores = ["memory", "gcs"]\nlistens = {', 1)
    with pytest.raises(UserError, match="has no second one to fall back to"):
        check_supported(small(tmp_path / "stores", stores), "server", replace(falling, store="gcs"))
    alone = MANIFEST.replace('["h1", "h2", "h3"]', '["h3"]', 1).replace('{h1 = ["tcp"], h2 = ["tcp"], h3', "{h3", 1)
    with pytest.raises(UserError, match="as a server does not support a fallback to h2; it supports h3"):
        check_supported(small(tmp_path / "alone", alone), "server", falling)


def test_only_who_remembers_finds_http_3_and_only_where_it_is_announced(tmp_path: Path) -> None:
    visit = {"kind": "page", "protocol": "h3", "method": "GET", "site": {"name": "one", "resources": [DOCUMENT]}}
    found = Demand(protocol="h3", kind="page", workload=workload_of({**visit, "fallback": True}))
    repeat = Demand(protocol="h3", kind="page", workload=workload_of({**visit, "visit": "repeat"}))
    pages = MANIFEST.replace('"POST"]', '"POST"]\nkinds = ["page"]')
    able = small(tmp_path / "able", pages.replace('["page"]', '["page"]\nremembers = true'))
    for asked_for, cannot in ((found, "does not discover HTTP/3"), (repeat, "makes no repeat visits")):
        check_supported(able, "client", asked_for)
        with pytest.raises(UserError, match=f"client small {cannot}"):
            check_supported(small(tmp_path / "pages", pages), "client", asked_for)
    announces = small(tmp_path / "announces", MANIFEST.replace('"{key}"', '"{key}", "{alt_svc}"'))
    check_supported(announces, "server", found)
    with pytest.raises(UserError, match="server small does not announce HTTP/3"):
        check_supported(able, "server", found)
    recorded = workload_of({**visit, "fallback": True, "announced": "https-record"})
    for asked_for in (repeat, Demand(protocol="h3", kind="page", workload=recorded)):
        check_supported(able, "server", asked_for)


def test_what_is_remembered_of_http_3_shows_in_visits(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"remembers: .*needs the kind page, h2 and h3"):
        small(tmp_path, MANIFEST.replace('"POST"]', '"POST"]\nremembers = true'))


@pytest.mark.parametrize(("role", "demand"), SUPPORTED)
def test_supported(tmp_path: Path, role: Role, demand: Demand) -> None:
    check_supported(small(tmp_path), role, demand)


REFUSED: list[tuple[Role, Demand, list[str]]] = [
    ("client", Demand(protocol="h4"), ["client", "protocol h4", "h1, h2, h3"]),
    ("client", Demand(protocol="h3", congestion="bbr", workload=asked("POST")), ["client", "congestion for h3 bbr"]),
    ("server", Demand(workload=asked("POST")), ["server", "method POST", "supports GET"]),
    ("server", Demand(protocol="h3", congestion="bbr"), ["congestion for h3 bbr", "cubic, reno"]),
    ("client", Demand(kind="page"), ["client", "workloads of kind page", "requests"]),
    ("client", Demand(workload=asked("GET", [{"name": "a", "value": "b"}])), ["request headers", "`headers`"]),
    ("client", Demand(workload=workload_of({"rate": 50.0})), ["open loop"]),
    ("server", Demand(store="gcs"), ["server", "store gcs", "supports memory"]),
    ("backend", Demand(store="gcs"), ["small is not a backend"]),
    ("server", Demand(backend_network="edge"), ["nothing is behind the server small", "`backend_network`"]),
    ("server", Demand(clock="virtual"), ["server", "clock virtual", "supports wall"]),
    ("client", Demand(tls="1.2"), ["client", "TLS 1.2", "supports 1.3"]),
    ("server", Demand(key_share="X25519MLKEM768"), ["server", "X25519MLKEM768; go, nginx-sid can"]),
    ("client", Demand(key_share="X25519MLKEM768"), ["client", "X25519MLKEM768; go, load can"]),
    ("server", Demand(protocol="h3", certificate_wait=1), ["cannot wait for its certificate over h3; s2n-quic can"]),
    ("server", Demand(protocol="h3", settings={"initial_window": 10}), ["server", "initial window over h3"]),
    ("server", Demand(protocol="h3", settings={"max_datagram": 1252}), ["server", "packet size over h3"]),
    ("server", Demand(congestion="bbr", settings={"pacing": "off"}), ["cannot change its pacing: bbr brings its own"]),
    ("server", Demand(protocol="h3", qlog=True), ["server", "cannot write qlog files", "`qlog`"]),
]


@pytest.mark.parametrize(("role", "demand", "said"), REFUSED)
def test_refused(tmp_path: Path, role: Role, demand: Demand, said: list[str]) -> None:
    with pytest.raises(UserError) as refused:
        check_supported(small(tmp_path), role, demand)
    for words in ["small", *said]:
        assert words in refused.value.message


CONTROLLERS = [
    ("h3", "reno", "reno"),
    ("h3", "default", "cubic"),
    ("h3", "bbr", "cubic"),
    ("h2", "bbr", "bbr"),
    ("h2", "default", "cubic"),
]


@pytest.mark.parametrize(("protocol", "asked", "given"), CONTROLLERS)
def test_a_subject_is_given_a_controller_that_it_has(tmp_path: Path, protocol: str, asked: str, given: str) -> None:
    assert controller(small(tmp_path), Demand(protocol=protocol, congestion=asked)) == given


def test_a_window_that_is_fixed_is_no_controller_to_ask_for(tmp_path: Path) -> None:
    subject = small(tmp_path, MANIFEST.replace('["cubic", "reno"]', '["fixed"]'))
    check_supported(subject, "server", Demand(protocol="h3", congestion="default"))
    with pytest.raises(UserError, match=r"congestion for h3 reno; it supports default$"):
        check_supported(subject, "server", Demand(protocol="h3", congestion="reno"))


def test_the_sender_must_have_the_controller(tmp_path: Path) -> None:
    both = MANIFEST.replace('protocols = ["h1", "h2"]', 'protocols = ["h1", "h2", "h3"]')
    demand = Demand(protocol="h3", workload=asked("POST"), congestion="bbr")
    with pytest.raises(UserError, match="congestion for h3 bbr"):
        check_supported(small(tmp_path, both), "client", demand)
    check_supported(small(tmp_path, both), "client", replace(demand, workload=asked("GET")))


def test_a_role_that_is_not_there(tmp_path: Path) -> None:
    without = MANIFEST[: MANIFEST.index("[client]")] + MANIFEST[MANIFEST.index("[features]") :]
    with pytest.raises(UserError, match="is not a client"):
        check_supported(small(tmp_path, without), "client", Demand())
