"""The campaign's certificate is one that strict clients accept."""

import contextlib
import datetime as dt
import os
import socket
import ssl
import threading
from pathlib import Path

import pytest

from h123.base.files import durable
from h123.execution import certificate
from h123.execution.certificate import HOST_NAME, Certificate, campaign_certificate
from h123.study.parameters import LEAST_CHAIN, MOST_CHAIN


def test_a_strict_client_accepts_it(tmp_path: Path) -> None:
    assert strict_version(campaign_certificate(tmp_path, ["127.0.0.1"])) == "TLSv1.3"


def strict_version(files: Certificate, name: str = HOST_NAME) -> str | None:
    """What a strict client and a server with this certificate agree on."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(files.cert, files.key)
    client = ssl.create_default_context(cafile=str(files.ca))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    ours, theirs = socket.socketpair()
    threading.Thread(target=_accept, args=(server, ours), daemon=True).start()
    with client.wrap_socket(theirs, server_hostname=name) as connection:
        return connection.version()


def _accept(server: ssl.SSLContext, socket: socket.socket) -> None:
    with contextlib.suppress(OSError):  # who does not trust it says so
        server.wrap_socket(socket, server_side=True).close()


def test_the_key_is_private_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes, sync = dict[str, int](), durable.sync

    def look(path: Path) -> None:
        modes.setdefault(path.name, path.stat().st_mode & 0o777)
        sync(path)

    monkeypatch.setattr(durable, "sync", look)
    before = os.umask(0)
    try:
        campaign_certificate(tmp_path, ["10.1.0.2"])
    finally:
        os.umask(before)
    assert (modes["key.pem.tmp"], modes["cert.pem.tmp"]) == (0o600, 0o666)


def test_it_is_made_once_and_the_key_is_private(tmp_path: Path) -> None:
    first = campaign_certificate(tmp_path, ["10.1.0.2"])
    before = first.cert.read_bytes()
    assert campaign_certificate(tmp_path, ["10.1.0.2"]).cert.read_bytes() == before
    assert first.key.stat().st_mode & 0o077 == 0


def test_one_that_a_crash_left_empty_or_that_has_run_out_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = campaign_certificate(tmp_path, ["10.1.0.2"])
    first.cert.write_text("")
    assert campaign_certificate(tmp_path, ["10.1.0.2"]).cert.read_bytes()
    monkeypatch.setattr(certificate, "_UNTIL", dt.datetime.now(dt.UTC) + dt.timedelta(hours=23))
    first.cert.unlink()
    short = campaign_certificate(tmp_path, ["10.1.0.2"]).cert.read_bytes()
    monkeypatch.undo()
    assert campaign_certificate(tmp_path, ["10.1.0.2"]).cert.read_bytes() != short


@pytest.mark.parametrize("size", [None, LEAST_CHAIN, 3000])
def test_a_seed_has_one_certificate_and_no_other_seed_has_it(tmp_path: Path, size: int | None) -> None:
    def files(place: str, seed: int, *, apart: bool = False) -> list[bytes]:
        made = campaign_certificate(tmp_path / place, ["10.1.0.2"], size, apart=apart, seed=seed)
        return [path.read_bytes() for path in (made.ca, made.cert, made.key)]

    first = files("here", 7)
    assert files("there", 7) == first
    others = [files("other", 8), files("here", 7, apart=True), files("large", 2**53 - 1)]
    for other in others:
        assert not set(other) & set(first)
    assert strict_version(campaign_certificate(tmp_path / "large", ["10.1.0.2"], size)) == "TLSv1.3"


@pytest.mark.parametrize("size", [LEAST_CHAIN, 3000, 6000, MOST_CHAIN])
def test_a_chain_is_as_large_as_asked_and_strict_clients_accept_it(tmp_path: Path, size: int) -> None:
    chain = campaign_certificate(tmp_path, ["127.0.0.1"], size)
    assert chain.bytes() == size
    assert chain.mounted(chain.key) == f"/tmp/h123-roots/tls/chain-{size}/key.pem"
    assert strict_version(chain) == "TLSv1.3"
    before = chain.cert.read_bytes()
    assert campaign_certificate(tmp_path, ["127.0.0.1"], size).cert.read_bytes() == before
    alone = campaign_certificate(tmp_path, ["127.0.0.1"])
    assert 400 < alone.bytes() < 500
    assert alone.mounted(alone.key) == "/tmp/h123-roots/tls/key.pem"


def test_only_where_hosts_are_apart_it_is_valid_for_them(tmp_path: Path) -> None:
    """A strict client that asks for one of them takes that one, be it alone or a chain, and no other."""
    for size, below in ((None, "hosts"), (3000, "chain-3000-hosts")):
        hosts = campaign_certificate(tmp_path, ["127.0.0.1"], size, apart=True)
        assert hosts.mounted(hosts.key) == f"/tmp/h123-roots/tls/{below}/key.pem"
        assert strict_version(hosts, "b.h123.test") == strict_version(hosts) == "TLSv1.3"
        with pytest.raises(ssl.SSLError):
            strict_version(hosts, "a.b.h123.test")
        with pytest.raises(ssl.SSLError):
            strict_version(campaign_certificate(tmp_path, ["127.0.0.1"], size), "b.h123.test")


def test_a_leaf_without_its_intermediate_is_refused(tmp_path: Path) -> None:
    chain = campaign_certificate(tmp_path, ["127.0.0.1"], 3000)
    end = "-----END CERTIFICATE-----\n"
    chain.cert.write_text(chain.cert.read_text().partition(end)[0] + end)
    with pytest.raises(ssl.SSLError):
        strict_version(chain)
